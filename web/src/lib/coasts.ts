import { mesh } from 'topojson-client'
import type { Topology } from 'topojson-specification'
import type { Ring } from './geojson'

/** linesOf returns coasts and borders as lines of longitudes and latitudes. */
export function linesOf(world: unknown): Ring[] {
  const topology = world as Topology
  const whole = mesh(topology, topology.objects.countries as Parameters<typeof mesh>[1])
  // A line that goes on at the other side of the world is two.
  return (whole.coordinates as Ring[]).flatMap((line) => {
    const parts: Ring[] = [[]]
    line.forEach((at, i) => {
      if (i && Math.abs(at[0] - line[i - 1][0]) > 180) parts.push([])
      parts[parts.length - 1].push(at)
    })
    return parts
  })
}
