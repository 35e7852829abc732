import { query, send, type Hit, type Params } from './api'
import { pointsAsGeoJSON } from './geojson'
import { positions } from './positions'


/** save gives a file to the browser's downloads. */
export function save(name: string, content: Blob | string, type = 'text/plain') {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

interface Format {
  title: string
  accept: string
  ending: string
  /** Makes the file of hits, for formats that only these have. */
  make?: (hits: Hit[], geo: string) => string
}

export const formats: Record<string, Format> = {
  csv: { title: 'CSV', accept: 'text/csv', ending: 'csv' },
  jsonl: { title: 'JSON lines', accept: 'application/x-ndjson', ending: 'jsonl' },
  run: {
    title: 'TREC run', accept: 'application/x-ndjson', ending: 'run',
    make: (hits) => hits.map((h) => `1 Q0 ${h.id} ${h.rank} ${h.score} collocate\n`).join(''),
  },
  geojson: {
    title: 'GeoJSON', accept: 'application/x-ndjson', ending: 'geojson',
    make: (hits, geo) => pointsAsGeoJSON(hits.flatMap((h) => {
      const { [geo]: at, ...properties } = h.fields ?? {}
      return positions(at).map((p) => ({ ...p, id: h.id, properties: { ...properties, score: h.score } }))
    })),
  },
}

/** download saves the table of an answer, as rows. geo is the field with the positions of documents. */
export async function download(path: string, params: Params, format: string, name: string, geo = '') {
  const { accept, ending, make } = formats[format]
  const show = format === 'geojson' ? [...new Set([...String(params.show ?? '').split(','), geo])].filter(Boolean).join(',') : params.show
  const response = await send(path + '?' + query({ ...params, show }), { headers: { Accept: accept } })
  const content = await response.blob()
  if (!make) return save(`${name}.${ending}`, content)
  const lines = (await content.text()).split('\n').filter(Boolean)
  save(`${name}.${ending}`, make(lines.map((l) => JSON.parse(l)), geo), ending === 'geojson' ? 'application/geo+json' : 'text/plain')
}
