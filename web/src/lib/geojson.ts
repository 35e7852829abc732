// GeoJSON in and out.

export type Ring = [number, number][]

interface Shape { type: string; coordinates?: unknown; geometry?: Shape | null; features?: Shape[]; geometries?: Shape[] }

/** ringsOf returns the borders of the polygons in a text of GeoJSON. */
export function ringsOf(text: string): Ring[] {
  let whole: Shape
  try { whole = JSON.parse(text) } catch { throw new Error('This is no GeoJSON.') }
  const rings: Ring[] = []
  const visit = (s: Shape | null | undefined) => {
    if (!s) return
    if (s.type === 'Polygon') rings.push(...(s.coordinates as Ring[]))
    if (s.type === 'MultiPolygon') rings.push(...(s.coordinates as Ring[][]).flat())
    visit(s.geometry)
    s.features?.forEach(visit)
    s.geometries?.forEach(visit)
  }
  visit(whole)
  if (!rings.length) throw new Error('This GeoJSON has no polygon.')
  return rings
}

/** pointsAsGeoJSON makes a collection of points with properties. */
export function pointsAsGeoJSON(points: { lon: number; lat: number; id: string; properties: object }[]): string {
  return JSON.stringify({
    type: 'FeatureCollection',
    features: points.map((p) => ({ type: 'Feature', id: p.id, geometry: { type: 'Point', coordinates: [p.lon, p.lat] }, properties: p.properties })),
  })
}
