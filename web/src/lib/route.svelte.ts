import { untrack } from 'svelte'

// The state of the page is in its address, so that it can be shared and the browser's history works.

export const views = ['search', 'lines', 'words', 'places', 'table', 'about'] as const
export type View = (typeof views)[number]

// All views are in the same folder, which is / unless a proxy adds a path before it. Addresses are
// relative to it.
const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)

function read() {
  const name = nameOf(location.pathname)
  const params = Object.fromEntries(new URLSearchParams(location.search)) as Record<string, string>
  if (params.w !== undefined) { // an older name of the query
    params.q ??= params.w
    delete params.w
  }
  return { view: (views.includes(name as View) ? name : 'search') as View, params }
}

export const route = $state(read())

addEventListener('popstate', () => Object.assign(route, read()))

export function href(view: View, params: Record<string, string | number | undefined> = {}): string {
  const q = new URLSearchParams()
  params = { index: untrack(() => route.params.index), ...params }
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== '') q.set(name, String(value))
  }
  const text = q.toString()
  return (view === 'search' ? './' : view) + (text ? '?' + text : '')
}

/** go changes what the page shows. While the user types, the address gets no new entry in the history. */
export function go(view: View, params: Record<string, string | number | undefined> = {}, replace = false) {
  const address = href(view, params)
  const to = new URL(address, location.href)
  if (to.pathname + to.search !== location.pathname + location.search) {
    if (replace) history.replaceState(null, '', address)
    else history.pushState(null, '', address)
  }
  Object.assign(route, read())
}

/** follow makes a link to a view change the view without reloading the page. */
export function follow(event: MouseEvent) {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = (event.target as Element).closest('a')
  if (!link || link.origin !== location.origin || link.target || link.hasAttribute('download')) return
  const name = nameOf(link.pathname)
  if (link.pathname !== new URL(name || '.', location.href).pathname) return // another folder
  if (name !== '' && !views.includes(name as View)) return
  event.preventDefault()
  history.pushState(null, '', link.href)
  Object.assign(route, read())
}
