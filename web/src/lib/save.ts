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
  ending: string
  type: string
  /** Whether it has a place for hits only. */
  ofHits?: boolean
  /** Makes the file of rows; without it the server does. */
  make?: (rows: Record<string, unknown>[], geo: string) => BlobPart | Promise<BlobPart>
}

const lines = 'application/x-ndjson'

export const formats: Record<string, Format> = {
  csv: { title: 'CSV', type: 'text/csv', ending: 'csv' },
  json: { title: 'JSON', type: 'application/json', ending: 'json', make: (rows) => JSON.stringify(rows, null, 1) + '\n' },
  jsonl: { title: 'JSON lines', type: lines, ending: 'jsonl' },
  parquet: {
    title: 'Parquet', type: 'application/vnd.apache.parquet', ending: 'parquet',
    make: async (rows) => (await import('./parquet')).asParquet(rows),
  },
  run: {
    title: 'TREC run', type: 'text/plain', ending: 'run', ofHits: true,
    make: (rows) => (rows as unknown as Hit[]).map((h) => `1 Q0 ${h.id} ${h.rank} ${h.score} collocate\n`).join(''),
  },
  geojson: {
    title: 'GeoJSON', type: 'application/geo+json', ending: 'geojson', ofHits: true,
    make: (rows, geo) => pointsAsGeoJSON((rows as unknown as Hit[]).flatMap((h) => {
      const { [geo]: at, ...properties } = h.fields ?? {}
      return positions(at).map((p) => ({ ...p, id: h.id, properties: { ...properties, score: h.score } }))
    })),
  },
}

/**
 * download saves the table of an answer. geo is the field with the positions of documents. An answer
 * that comes in pages is asked for until a page is not full.
 */
export async function download(path: string, params: Params, format: string, name: string, geo = '', page = 0, signal?: AbortSignal) {
  const { type, ending, make } = formats[format]
  const show = format === 'geojson' ? [...new Set([...String(params.show ?? '').split(','), geo])].filter(Boolean).join(',') : params.show
  const accept = make ? lines : type
  let text = ''
  for (let from = 0; ; from += page) {
    const asked = page ? { ...params, top: page, from: from || undefined, show } : { ...params, show }
    const part = await (await send(path + '?' + query(asked), { signal, headers: { Accept: accept } })).text()
    text += from && accept === 'text/csv' ? part.slice(part.indexOf('\n') + 1) : part // the names are there once
    // Each row of these tables is one line: their texts have blanks for line ends.
    if (!page || part.split('\n').length - 1 - Number(accept === 'text/csv') < page) break
  }
  if (!make) return save(`${name}.${ending}`, text, type)
  const rows = text.split('\n').filter(Boolean).map((l) => JSON.parse(l))
  save(`${name}.${ending}`, new Blob([await make(rows, geo)], { type }))
}
