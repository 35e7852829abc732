import { mesh } from 'topojson-client'
import type { Topology } from 'topojson-specification'
import type { Ring } from './geojson'
import world from 'world-atlas/countries-110m.json'

// Coasts and borders as lines of longitudes and latitudes, of Natural Earth at 1:110 million, so that
// a map without a network still shows where it is.
const topology = world as unknown as Topology
const whole = mesh(topology, topology.objects.countries as Parameters<typeof mesh>[1])

// A line that goes on at the other side of the world is two.
export const outlines = (whole.coordinates as Ring[]).flatMap((line) => {
  const parts: Ring[] = [[]]
  line.forEach((at, i) => {
    if (i && Math.abs(at[0] - line[i - 1][0]) > 180) parts.push([])
    parts[parts.length - 1].push(at)
  })
  return parts
})
