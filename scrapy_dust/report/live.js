"use strict";
// Reads this file again, in a hidden frame, and changes what is new. A page from a disk may not read its own file in
// any other way. The frame shows the same file: its script sends the content to the page, and does nothing else.
(() => {
  const live = document.getElementById("live");
  if (window.parent !== window) {
    window.parent.postMessage(live.outerHTML, "*");
    return;
  }
  const PATIENCE = 10000;
  const every = Number(live.dataset.every);
  const silent = Math.max(30000, 5 * every);
  const pause = document.getElementById("pause"), news = document.getElementById("news");
  let frame = null, asked = 0, isPaused = false, newest = Number(live.dataset.written);

  // Changes *old* into *fresh*, node by node, so that a node which has the focus stays.
  function change(old, fresh) {
    if (old.isEqualNode(fresh)) return;
    if (old.nodeName !== fresh.nodeName) {
      old.replaceWith(fresh);
    } else if (old.nodeType !== Node.ELEMENT_NODE) {
      old.data = fresh.data;
    } else {
      for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
      for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
      const children = [...fresh.childNodes];
      while (old.childNodes.length > children.length) old.lastChild.remove();
      children.forEach((child, place) => {
        if (place < old.childNodes.length) change(old.childNodes[place], child);
        else old.append(child);
      });
    }
  }

  function say(text) {
    if (news.textContent !== text) news.textContent = text;
  }

  function tell() {
    if ("ended" in live.dataset) {
      say("The crawl has ended: this page stays as it is.");
      pause.hidden = true;
    } else if (isPaused) {
      say("Updates are paused.");
    } else if (Date.now() - newest > silent) {
      say("No news: the crawl was killed, or cannot write this file any more.");
    } else {
      say(`This page updates itself every ${every / 1000} seconds.`);
    }
  }

  function look() {
    tell();
    if ("ended" in live.dataset || isPaused || document.hidden) return;
    // A slow disk is waited for; a file that is gone sends nothing.
    if (frame && Date.now() - asked < PATIENCE) return;
    asked = Date.now();
    frame?.remove();
    frame = document.createElement("iframe");
    frame.hidden = true;
    frame.title = "The newest state of the crawl";
    frame.setAttribute("sandbox", "allow-scripts");
    frame.src = `${location.pathname}?${Date.now()}`;
    document.body.append(frame);
  }

  window.addEventListener("message", (event) => {
    if (!frame || event.source !== frame.contentWindow) return;
    const fresh = new DOMParser().parseFromString(event.data, "text/html").getElementById("live");
    frame.remove();
    frame = null;
    if (!fresh || fresh.dataset.written === live.dataset.written) return;
    newest = Date.now();
    const focused = document.activeElement;
    change(live, document.importNode(fresh, true));
    if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
    tell();
  });
  pause.addEventListener("click", () => {
    isPaused = !isPaused;
    pause.textContent = isPaused ? "Resume updates" : "Pause updates";
    frame?.remove();
    frame = null;
    look();
  });
  document.addEventListener("visibilitychange", look);
  pause.hidden = false;
  tell();
  window.setInterval(look, every);
})();
