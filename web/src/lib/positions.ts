import type { Status, Value } from './api'

export interface Position { lat: number; lon: number }

/** positions returns the positions of a value of a geo field, which may have several. */
export function positions(v: Value | undefined): Position[] {
  if (v === undefined) return []
  if (Array.isArray(v)) return v.flatMap(positions)
  if (typeof v === 'object') return Number.isFinite(v.lat) && Number.isFinite(v.lon) ? [v] : []
  if (typeof v === 'string' && v.startsWith('{')) { // as it was added
    try { return positions(JSON.parse(v)) } catch { return [] }
  }
  const [lat, lon] = String(v).split(',').map(Number) // 52.5,13.4
  return Number.isFinite(lat) && Number.isFinite(lon) ? [{ lat, lon }] : []
}

const northOf = (name: string) => name.replace(/easting|east|x/i, (m) => {
  const other = ({ easting: 'northing', east: 'north', x: 'y' } as Record<string, string>)[m.toLowerCase()]
  return m === m.toUpperCase() ? other.toUpperCase() : other
})

/** planes returns pairs of number fields that look like plane coordinates, such as x,y or easting,northing. */
export function planes(fields: NonNullable<NonNullable<Status['index']>['fields']>): string[] {
  const numbers = fields.filter((f) => f.type === 'number' && !f.unstored).map((f) => f.name)
  return numbers.filter((name) => /(^|[_.-])(x|east|easting)($|[_.-]|coord)/i.test(name) && numbers.includes(northOf(name)))
    .map((name) => `${name},${northOf(name)}`)
}

/** positionsOf returns the positions of a document: those of a geo field, or of two fields of plane coordinates. */
export function positionsOf(fields: Record<string, Value> | undefined, field: string): Position[] {
  const [x, y] = field.split(',')
  if (!y) return positions(fields?.[field])
  const lon = fields?.[x], lat = fields?.[y]
  return typeof lon === 'number' && typeof lat === 'number' ? [{ lat, lon }] : []
}
