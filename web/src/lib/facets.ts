import { get, type Answer, type Facet } from './api'

export type Field = { name: string; type: string; unstored?: boolean }

/** span is the least and the largest value of a number or date field, as numbers; undefined if it has none. */
export async function span(field: Field, signal: AbortSignal): Promise<[number, number] | undefined> {
  const end = async (sort: string) => {
    const { hits } = await get<Answer>('v1/search', { q: `${field.name}:*`, k: 1, sort, show: field.name }, signal)
    const value = hits[0]?.fields?.[field.name]
    const one = Array.isArray(value) ? value[0] : value
    return field.type === 'date' ? Date.parse(String(one)) : Number(one)
  }
  const [low, high] = await Promise.all([end(field.name), end(field.name + ':desc')])
  return Number.isFinite(low) && Number.isFinite(high) ? [low, high] : undefined
}

const day = 86_400_000

/** inBars returns the facet that divides a span into about 10 to 40 ranges; 1,000 at most are asked for. */
export function inBars(field: Field, [low, high]: [number, number]): string {
  if (field.type === 'date') {
    const days = (high - low) / day
    return `${field.name}/${days > 3 * 366 ? 'year' : days > 60 ? 'month' : 'day'}:1000`
  }
  const rough = (high - low) / 20
  const power = 10 ** Math.floor(Math.log10(rough || 1))
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough) ?? 1
  return `${field.name}/${Number(step.toPrecision(1))}:1000`
}

/** startOf is where a range such as [1990 TO 1995} or the month 2020-05 begins, to put bars in order. */
export function startOf(value: string): number {
  const from = /^[[{](\S+) TO/.exec(value)?.[1] ?? value
  return /^-?[\d.]+(e[+-]?\d+)?$/i.test(from) && !/^\d{4}$/.test(value) ? Number(from) : Date.parse(from)
}

/** labelOf writes a range for people: 1990–1995. */
export function labelOf(value: string): string {
  const ends = /^[[{](\S+) TO (\S+)[\]}]$/.exec(value)
  return ends ? `${ends[1]} to ${ends[2]}` : value
}

export const sortedBars = (facet: Facet) => [...facet.values].sort((a, b) => startOf(a.value) - startOf(b.value))
