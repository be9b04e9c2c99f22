"""A small dusty web: four sites on which one page has many URLs, and what is true of them.

It is modelled on the four sites of the DustBuster papers. What a URL shows is a function of the URL and a seed;
where a page changes at every fetch, of the number of the fetch too.

- `web.DustyWeb`: the function. `sites/` has the four sites.
- `server`: shows it on loopback as an HTTP proxy and counts every request. ``python -m dusty_web``
- `truth`: what a URL really is, and the true rules; `traps`: the false ones.
- `compare`: what two crawls cost and found, from the server's counts.
- `running`: starts a server of one's own, for tests and demonstrations.
"""

#: The seed where none is given.
SEED = 2007
