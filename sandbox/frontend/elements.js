export const $ = (selector) => document.querySelector(selector)

export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children)
  return made
}

export const link = (href, words) => element('a', { href, target: '_blank', rel: 'noopener', textContent: words })

export function onSubmit(form, send) {
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void send(new FormData(form))
  })
}

/** A table with headings for its columns and rows; `rows` are lists whose first entry is the heading. */
export function table(caption, columns, rows) {
  const head = columns.map((name) => element('th', { scope: 'col', textContent: name }))
  const lines = rows.map(([name, ...cells]) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row', textContent: name }),
      ...cells.map((cell) => (cell instanceof Node ? cell : element('td', { textContent: cell }))),
    ),
  )
  return element(
    'table',
    {},
    element('caption', { textContent: caption }),
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...lines),
  )
}
