import world from 'world-atlas/countries-50m.json'
import { linesOf } from './coasts'

// Natural Earth at 1:50 million, for the map of a country.
export const outlines = linesOf(world)
