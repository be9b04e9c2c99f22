"""The four sites. Each says which pages it has, how they are spelled, and what it answers to any URL."""

from __future__ import annotations

from dusty_web.site import Site
from dusty_web.sites.academic import Academic
from dusty_web.sites.bignews import BigNews
from dusty_web.sites.forum import Forum
from dusty_web.sites.smallnews import SmallNews

SITES: tuple[type[Site], ...] = (Forum, Academic, BigNews, SmallNews)
