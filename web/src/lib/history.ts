/** Search is a search of this browser: its query, its filters, one a line, and the name of a saved one. */
export interface Search { q: string; f: string; name?: string }

const key = 'collocate-searches'

export function remembered(): Search[] {
  try {
    const list = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(list) ? list.filter((s) => typeof s?.q === 'string' && typeof s?.f === 'string') : []
  } catch { return [] }
}

export function remember(list: Search[]) {
  try { localStorage.setItem(key, JSON.stringify(list)) } catch { /* private windows may have no storage */ }
}
