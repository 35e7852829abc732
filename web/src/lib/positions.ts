import type { Value } from './api'

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
