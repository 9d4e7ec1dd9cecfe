enum PageStyle {
  static let text = """
    :root { color-scheme: light dark; --page: #f6f6f4; --text: #1b1b1a; --quiet: #5e5e5a; --tile: #fff; --line: #d9d9d4;
      --focus: #0b62d6; --badge: rgba(0, 0, 0, .72); --warn: #a33d00; }
    @media (prefers-color-scheme: dark) {
      :root { --page: #171716; --text: #ececea; --quiet: #a5a5a0; --tile: #232322; --line: #3a3a38; --focus: #7ab4ff;
        --warn: #ffb07a; }
    }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.4 system-ui, sans-serif; }
    header { position: sticky; top: 0; z-index: 2; background: var(--page); border-bottom: 1px solid var(--line);
      padding: .6rem 1rem; display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: center; }
    h1 { font-size: 1.05rem; margin: 0; margin-inline-end: auto; overflow-wrap: anywhere; }
    input, select, button { font: inherit; color: inherit; background: var(--tile); border: 1px solid var(--line);
      border-radius: .4rem; padding: .3rem .6rem; min-height: 2.2rem; }
    input[type=search] { width: 16rem; max-width: 100%; }
    :focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
    nav { padding: .6rem 1rem 0; display: flex; flex-wrap: wrap; gap: .5rem; }
    nav a { color: inherit; text-decoration: none; background: var(--tile); border: 1px solid var(--line); border-radius: .4rem;
      padding: .3rem .7rem; overflow-wrap: anywhere; }
    nav a:hover { border-color: var(--focus); }
    #count { color: var(--quiet); padding: .5rem 1rem 0; margin: 0; }
    #grid { position: relative; margin: .5rem 1rem 2rem; }
    .item { position: absolute; display: flex; flex-direction: column; padding: 0; overflow: hidden; text-align: start;
      background: var(--tile); border: 1px solid var(--line); border-radius: .5rem; cursor: pointer; }
    .item:hover { border-color: var(--focus); }
    .item .picture { position: relative; flex: 1; min-height: 0; background: rgba(127, 127, 127, .12); width: 100%; }
    .item img { width: 100%; height: 100%; object-fit: contain; display: block; }
    .badge { position: absolute; inset-inline-end: .3rem; bottom: .3rem; background: var(--badge); color: #fff; font-size: .8rem;
      border-radius: .25rem; padding: 0 .35rem; font-variant-numeric: tabular-nums; }
    .badge.warn { inset-inline: .3rem auto; background: #8a3300; }
    .item .name, .item .facts { padding: 0 .5rem; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; width: 100%; }
    .item .name { padding-top: .3rem; }
    .item .facts { color: var(--quiet); font-size: .85rem; padding-bottom: .35rem; }
    .item .facts.warn { color: var(--warn); }
    dialog { border: 0; padding: 0; width: 100vw; height: 100vh; height: 100dvh; max-width: none; max-height: none; background: #000; color: #fff; }
    dialog[open] { display: flex; flex-direction: column; }
    dialog .bar { display: flex; gap: .5rem; align-items: center; padding: .4rem .7rem; }
    dialog .bar p { margin: 0; margin-inline-end: auto; overflow-wrap: anywhere; min-width: 0; }
    dialog button, dialog a.button { background: #2b2b2b; color: #fff; border: 1px solid #555; border-radius: .4rem;
      padding: .3rem .7rem; min-height: 2.2rem; text-decoration: none; white-space: nowrap; }
    dialog :focus-visible { outline-color: #7ab4ff; }
    #stage { flex: 1; min-height: 0; display: flex; flex-direction: column; align-items: center; justify-content: center; gap: 1rem; }
    #stage video, #stage .photo { width: 100%; height: 100%; object-fit: contain; }
    #stage audio { width: min(40rem, 90vw); }
    #stage p { margin: 0; padding: 0 1rem; text-align: center; max-width: 45rem; overflow-wrap: anywhere; }
    @media (max-width: 560px) {
      input[type=search] { width: 100%; }
      header, nav, #count { padding-inline: .6rem; }
      #grid { margin-inline: .6rem; }
    }
    @media (prefers-reduced-motion: no-preference) { .item { transition: border-color .12s; } }
    """
}
