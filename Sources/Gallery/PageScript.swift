enum PageScript {
  /// Only the tiles that are seen exist: ten thousand documents are as smooth as ten.
  static let text = #"""
    'use strict';
    (() => {
    const [NAME, LINK, PICTURE, KIND, SIZE, MODIFIED, SECONDS, WIDTH, HEIGHT, VERDICT, REASON, SOUGHT] = Array.from({length: 12}, (_, i) => i);
    for (const item of ITEMS) item[SOUGHT] = item[NAME].toLowerCase();
    const element = (tag, properties = {}, ...children) => {
      const made = Object.assign(document.createElement(tag), properties);
      made.append(...children);
      return made;
    };
    const labels = {video: 'Videos', image: 'Photos', audio: 'Audio', document: 'Documents'};
    const sizes = ['B', 'kB', 'MB', 'GB', 'TB'];
    const size = bytes => {
      let step = 0;
      while (bytes >= 999.5 && step < 4) { bytes /= 1000; step++; }
      return (step && bytes < 9.95 ? bytes.toFixed(1) : Math.round(bytes)) + ' ' + sizes[step];
    };
    const two = number => String(number).padStart(2, '0');
    const duration = seconds => {
      const whole = Math.round(seconds), hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
      return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
    };
    const date = seconds => {
      const day = new Date(seconds * 1000);
      return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
    };
    const facts = item => {
      if (item[VERDICT] && item[VERDICT] !== 'unsupported') return item[REASON] || item[VERDICT];
      const known = [size(item[SIZE]), date(item[MODIFIED])];
      if (item[WIDTH]) known.push(`${item[WIDTH]}×${item[HEIGHT]}`);
      return known.join(' · ');
    };

    // The head: name of the folder, search, kinds, order.
    const search = element('input', {type: 'search', id: 'search', placeholder: 'Search (/)', autocomplete: 'off'});
    search.setAttribute('aria-label', 'Search names; press / to come here');
    const kinds = element('select', {id: 'kind'}, new Option('All kinds', ''));
    kinds.setAttribute('aria-label', 'Kind');
    for (const kind in labels) if (ITEMS.some(item => item[KIND] === kind)) kinds.append(new Option(labels[kind], kind));
    if (ITEMS.some(item => item[VERDICT])) kinds.append(new Option('With a problem', '!'));
    const order = element('select', {id: 'order'});
    order.setAttribute('aria-label', 'Order');
    for (const [text, value] of [['Name', 'name'], ['Newest', 'newest'], ['Oldest', 'oldest'], ['Largest', 'largest'], ['Longest', 'longest']])
      order.append(new Option(text, value));
    document.body.append(element('header', {}, element('h1', {textContent: FOLDER.name}), search, kinds, order));
    const places = element('nav');
    places.setAttribute('aria-label', 'Folders');
    if (FOLDER.up) places.append(element('a', {href: '../index.html', textContent: '↑ Up'}));
    for (const [name, link] of FOLDER.folders) places.append(element('a', {href: link + '/index.html', textContent: name + '/'}));
    if (places.children.length) document.body.append(places);
    const count = element('p', {id: 'count'});
    count.setAttribute('role', 'status');
    const grid = element('main', {id: 'grid'});
    grid.setAttribute('role', 'list');
    document.body.append(count, grid);

    const collator = new Intl.Collator(undefined, {numeric: true});
    const orders = {
      name: (a, b) => collator.compare(a[NAME], b[NAME]),
      newest: (a, b) => b[MODIFIED] - a[MODIFIED] || orders.name(a, b), oldest: (a, b) => a[MODIFIED] - b[MODIFIED] || orders.name(a, b),
      largest: (a, b) => b[SIZE] - a[SIZE] || orders.name(a, b), longest: (a, b) => b[SECONDS] - a[SECONDS] || orders.name(a, b),
    };
    // All in the chosen order, and what of them is found: who types only has names compared.
    let ordered = [], shown = [], current = 0, columns = 1, width = 0, height = 0;
    const gap = 12, tiles = new Map();

    const tile = index => {
      const item = shown[index];
      const picture = element('img', {src: item[PICTURE], alt: `Thumbnail of ${item[NAME]}`, decoding: 'async'});
      const frame = element('span', {className: 'picture'}, picture);
      if (item[SECONDS]) frame.append(element('span', {className: 'badge', textContent: duration(item[SECONDS])}));
      const warns = item[VERDICT] && item[VERDICT] !== 'unsupported';
      if (warns) frame.append(element('span', {className: 'badge warn', textContent: item[VERDICT]}));
      const made = element('button', {type: 'button', className: 'item', title: item[NAME]}, frame,
        element('span', {className: 'name', textContent: item[NAME]}),
        element('span', {className: warns ? 'facts warn' : 'facts', textContent: facts(item), title: item[REASON]}));
      made.setAttribute('role', 'listitem');
      made.setAttribute('aria-setsize', shown.length);
      made.setAttribute('aria-posinset', index + 1);
      made.setAttribute('aria-label', [item[NAME], labels[item[KIND]], item[SECONDS] ? duration(item[SECONDS]) : '', facts(item)].filter(Boolean).join(', '));
      made.onclick = () => open(index);
      made.onfocus = () => select(index, false);
      return made;
    };
    const place = () => {
      const room = grid.clientWidth;
      columns = Math.max(1, Math.floor((room + gap) / (Math.min(220, Math.max(140, room / 2 - gap)) + gap)));
      width = (room - gap * (columns - 1)) / columns;
      height = Math.round(width * 9 / 16) + 58;
      grid.style.height = Math.max(0, Math.ceil(shown.length / columns) * (height + gap) - gap) + 'px';
      for (const made of tiles.values()) made.remove();
      tiles.clear();
      fill();
    };
    const fill = () => {
      const top = -grid.getBoundingClientRect().top, rows = height + gap;
      const first = Math.max(0, Math.floor((top - innerHeight / 2) / rows)) * columns;
      const last = Math.min(shown.length, (Math.ceil((top + 1.5 * innerHeight) / rows) + 1) * columns);
      for (const [index, made] of tiles)
        if ((index < first || index >= last) && made !== document.activeElement) { made.remove(); tiles.delete(index); }
      const fresh = document.createDocumentFragment();
      for (let index = first; index < last; index++) {
        if (tiles.has(index)) continue;
        const made = tile(index);
        made.style.cssText = `left:${(index % columns) * (width + gap)}px;top:${Math.floor(index / columns) * rows}px;width:${width}px;height:${height}px`;
        made.tabIndex = index === current ? 0 : -1;
        tiles.set(index, made);
        fresh.append(made);
      }
      grid.append(fresh);
    };
    const select = (index, moves) => {
      const before = tiles.get(current);
      if (before) before.tabIndex = -1;
      current = Math.min(Math.max(0, index), shown.length - 1);
      if (moves) {
        const row = Math.floor(current / columns) * (height + gap), top = grid.getBoundingClientRect().top + scrollY + row;
        const head = document.querySelector('header').offsetHeight + gap;
        if (top < scrollY + head) scrollTo(0, top - head);
        else if (top + height > scrollY + innerHeight) scrollTo(0, top + height + gap - innerHeight);
        fill();
      }
      const made = tiles.get(current);
      if (!made) return;
      made.tabIndex = 0;
      if (moves) made.focus({preventScroll: true});
    };
    const show = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean), kind = kinds.value;
      shown = ordered.filter(item => (!kind || (kind === '!' ? item[VERDICT] : item[KIND] === kind))
        && words.every(word => item[SOUGHT].includes(word)));
      count.textContent = ITEMS.length === 0 ? 'Nothing is catalogued in this folder.'
        : shown.length === ITEMS.length ? `${ITEMS.length} ${ITEMS.length === 1 ? 'document' : 'documents'}` : `${shown.length} of ${ITEMS.length}`;
      current = 0;
      place();
    };
    const arrange = () => {
      ordered = [...ITEMS].sort(orders[order.value]);
      show();
    };
    search.oninput = kinds.onchange = show;
    order.onchange = arrange;
    addEventListener('resize', place);
    addEventListener('scroll', fill, {passive: true});

    // One document, as large as the window.
    const title = element('p'), stage = element('div', {id: 'stage'});
    const file = element('a', {className: 'button', textContent: 'File'});
    const close = element('button', {type: 'button', textContent: 'Close'});
    const dialog = element('dialog', {}, element('div', {className: 'bar'}, title, file, close), stage);
    document.body.append(dialog);
    const words = text => element('p', {textContent: text});
    let viewed = 0;
    const open = index => {
      viewed = index;
      select(index, false);
      const item = shown[index], link = FOLDER.documents + item[LINK];
      title.textContent = `${item[NAME]} (${index + 1} of ${shown.length})`;
      file.href = link;
      for (const media of stage.querySelectorAll('video, audio')) { media.pause(); media.removeAttribute('src'); media.load(); }
      const fallback = text => stage.replaceChildren(element('img', {src: item[PICTURE], alt: `Thumbnail of ${item[NAME]}`}), words(text));
      const cannot = () => fallback(`This browser cannot show it. ${facts(item)}`);
      if (item[VERDICT] === 'invalid') fallback(item[REASON]);
      else if (item[KIND] === 'video')
        stage.replaceChildren(element('video', {src: link, controls: true, autoplay: true, poster: item[PICTURE], onerror: cannot}), ...(item[REASON] ? [words(item[REASON])] : []));
      else if (item[KIND] === 'image') stage.replaceChildren(element('img', {className: 'photo', src: link, alt: item[NAME], onerror: cannot}));
      else if (item[KIND] === 'audio')
        stage.replaceChildren(element('img', {src: item[PICTURE], alt: ''}), element('audio', {src: link, controls: true, autoplay: true, onerror: cannot}));
      else fallback(facts(item));
      if (!dialog.open) dialog.showModal();
      close.focus();
    };
    close.onclick = () => dialog.close();
    dialog.onclose = () => { stage.replaceChildren(); select(viewed, true); };
    dialog.addEventListener('keydown', event => {
      const step = {ArrowLeft: -1, ArrowRight: 1}[event.key], media = stage.querySelector('video, audio');
      if (step && viewed + step >= 0 && viewed + step < shown.length) open(viewed + step);
      else if (event.key === ' ' && media && event.target !== close && event.target !== file) { if (media.paused) media.play(); else media.pause(); }
      else if (!step) return;
      event.preventDefault();
      event.stopPropagation();
    }, true);

    addEventListener('keydown', event => {
      if (dialog.open || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target === search) {
        if (event.key === 'Escape') { search.value = ''; show(); search.blur(); event.preventDefault(); }
        if ((event.key === 'Enter' || event.key === 'ArrowDown') && shown.length) { select(0, true); event.preventDefault(); }
        return;
      }
      if (event.key === '/') { search.focus(); search.select(); event.preventDefault(); return; }
      if (event.target instanceof HTMLSelectElement || event.target instanceof HTMLAnchorElement || !shown.length) return;
      const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, Home: -shown.length, End: shown.length,
        PageUp: -columns * 4, PageDown: columns * 4}[event.key];
      if (step === undefined) return;
      const isFirst = !grid.contains(document.activeElement);
      select(isFirst ? current : current + step, true);
      event.preventDefault();
    });
    arrange();
    })();
    """#
}
