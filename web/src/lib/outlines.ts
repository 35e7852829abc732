import world from 'world-atlas/countries-110m.json'
import { linesOf } from './coasts'

// Natural Earth at 1:110 million, so that a map without a network still shows where it is.
export const outlines = linesOf(world)
