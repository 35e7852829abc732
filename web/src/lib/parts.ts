import { tokens } from './matching'
import { fieldOf, filterOf } from './selection.svelte'

/** parts divides a query into what all must match: the chips that show it. */
export function parts(q: string): string[] {
  const list = tokens(q)
  const joined = list.length % 2 === 1 && list.every((t, i) => (i % 2 === 1) === (t === 'AND'))
  return !q ? [] : joined ? list.filter((_, i) => i % 2 === 0) : [q]
}

const join = (list: string[]) => (list.length > 1 ? list.map((p) => (tokens(p).length > 1 ? `(${p})` : p)).join(' AND ') : list[0] ?? '')

export const without = (q: string, part: string) => join(parts(q).filter((p) => p !== part))

/** withPart adds a value of a field; several of the same field are alternatives. */
export function withPart(q: string, value: string): string {
  if (!value) return q
  const field = fieldOf(value)
  const inside = (p: string) => (p.startsWith('(') && p.endsWith(')') ? tokens(p.slice(1, -1)).filter((t) => t !== 'OR') : [p])
  const list = parts(q)
  const i = list.findIndex((p) => field && inside(p).every((t) => fieldOf(t) === field))
  if (i < 0) return join([...list, value])
  return join(list.map((p, j) => (j === i ? filterOf([...new Set([...inside(p), value])]) : p)))
}
