import { matching } from './matching'
import { route, go } from './route.svelte'
import type { Status } from './api'

// All views show the same documents: those of a query and of filters, which the address has.

export const query = () => route.params.q ?? ''
export const filters = () => (route.params.f ?? '').split('\n').filter(Boolean)
export const mode = () => (route.params.mode === 'and' ? 'and' : 'or')

/** fieldOf returns the field that a filter such as year:[1990 TO 2000} is about. */
export const fieldOf = (filter: string) => /^([A-Za-z_][\w.-]*):/.exec(filter)?.[1] ?? ''

/**
 * filterOf makes one query of several filters. Values of a field are alternatives; different fields
 * must all match. Filters of the field without are left out.
 */
export function filterOf(list: string[], without = ''): string {
  const groups = new Map<string, string[]>()
  for (const f of list) {
    const field = fieldOf(f)
    if (field && field === without) continue
    const key = field || f
    groups.set(key, [...(groups.get(key) ?? []), f])
  }
  return [...groups.values()].map((g) => (g.length > 1 ? `(${g.join(' OR ')})` : g[0])).join(' ')
}

/** asked returns the parameters that select the documents in searches; without a query all are selected. */
export const asked = (without = '') => ({ q: query() || '*', mode: mode(), filter: filterOf(filters(), without) })

/** selected returns the query whose matches are the selection, for questions that take only a filter. */
export function selected(): string {
  const filter = filterOf(filters())
  const q = query() && (mode() === 'and' ? `(${query()})` : matching(query()))
  return [q, filter].filter(Boolean).join(' AND ')
}

/**
 * wordsIn returns the words, patterns and phrases of a query without its operators and filters, as
 * concordances take them.
 */
export function wordsIn(q: string, status: Status): string {
  const types = new Map((status.index?.fields ?? []).map((f) => [f.name, f.type]))
  const parts = q.match(/[^\s":(]*:?(?:"[^"]*"|[[{][^\]}]*[\]}]|[^\s"])[^\s"]*/g) ?? []
  return parts.map((part) => {
    if (/^(AND|OR|NOT|&&|\|\||(NEAR|BEFORE)\/\d+)$/.test(part) || /^[-#!]/.test(part)) return ''
    let text = part.replace(/^[+(]+/, '').replace(/\)+(\^[\d.]+)?$/, '').replace(/\^[\d.]+$/, '')
    const field = fieldOf(text)
    if (types.has(field)) {
      if (types.get(field) !== 'text') return ''
      text = text.slice(field.length + 1).replace(/^\(+/, '')
    }
    return text.replace(/~\d*$/, '').replace(/^\*$/, '')
  }).filter(Boolean).join(' ')
}

/** show changes the selection, and stays in the view. Pages of results begin again. */
export function show(change: Record<string, string | number | undefined>, replace = false) {
  go(route.view, { ...route.params, start: undefined, after: undefined, ...change }, replace)
}

/** toggle adds a filter, or removes it. */
export function toggle(filter: string) {
  const now = filters()
  const next = now.includes(filter) ? now.filter((f) => f !== filter) : [...now, filter]
  show({ f: next.join('\n') || undefined })
}

/** kept are the parameters of the address that all views share. */
export const kept = () => {
  const { q, f, mode, rank, like, vector, vfield, fusion, share, tokens, tfield, tweight } = route.params
  return { q, f, mode, rank, like, vector, vfield, fusion, share, tokens, tfield, tweight }
}

