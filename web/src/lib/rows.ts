// Rows of files that people have: CSV, TSV, JSON, JSON lines, GeoJSON and plain text.

export type Row = Record<string, unknown>

/** rowsOf reads a file; text has a row for each paragraph between blank lines. */
export function rowsOf(name: string, content: string): Row[] {
  const ending = name.toLowerCase().split('.').pop()
  const text = content.replace(/^\uFEFF/, '')
  if (ending === 'csv' || ending === 'tsv') return table(text, ending === 'tsv' ? '\t' : separator(text))
  if (ending === 'jsonl' || ending === 'ndjson') return lines(text)
  if (ending === 'json' || ending === 'geojson') {
    let whole: unknown
    try { whole = JSON.parse(text) } catch (e) {
      if (text.trim().includes('\n')) return lines(text)
      throw new Error(`This is no JSON: ${e instanceof Error ? e.message : e}`)
    }
    return documents(whole)
  }
  return text.split(/\n\s*\n/).map((p) => p.trim()).filter(Boolean).map((contents) => ({ contents }))
}

const isObject = (v: unknown): v is Row => typeof v === 'object' && v !== null && !Array.isArray(v)

function documents(whole: unknown): Row[] {
  if (isObject(whole) && Array.isArray(whole.features)) return whole.features.filter(isObject).map(feature)
  const list = Array.isArray(whole) ? whole : isObject(whole) ? [whole] : []
  if (!list.length || !list.every(isObject)) throw new Error('want a list of JSON objects')
  return list
}

/** feature makes a row of a feature of GeoJSON: its properties, and a point as location. */
function feature(f: Row): Row {
  const row: Row = { ...(isObject(f.properties) ? f.properties : {}) }
  if (f.id !== undefined) row.id ??= f.id
  const g = f.geometry
  if (isObject(g) && g.type === 'Point' && Array.isArray(g.coordinates)) row.location = { lat: g.coordinates[1], lon: g.coordinates[0] }
  return row
}

function lines(text: string): Row[] {
  return text.split('\n').flatMap((line, i) => {
    if (!line.trim()) return []
    let row: unknown
    try { row = JSON.parse(line) } catch { throw new Error(`line ${i + 1} is no JSON`) }
    if (!isObject(row)) throw new Error(`line ${i + 1} is no JSON object`)
    return [row]
  })
}

const separator = (text: string) => {
  const head = text.slice(0, text.indexOf('\n') >>> 0)
  return [',', ';', '\t'].map((s) => [s, head.split(s).length] as const).sort((a, b) => b[1] - a[1])[0][0]
}

/** table reads CSV as RFC 4180 has it: quotes may hold separators, line ends and doubled quotes. */
export function table(text: string, by: string): Row[] {
  const rows: string[][] = []
  let row: string[] = [], cell = '', quoted = false
  const end = () => { row.push(cell); cell = '' }
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (quoted) {
      if (c !== '"') cell += c
      else if (text[i + 1] === '"') { cell += '"'; i++ } else quoted = false
    } else if (c === '"' && cell === '') quoted = true
    else if (c === by) end()
    else if (c === '\n') { end(); rows.push(row); row = [] }
    else if (c !== '\r' || text[i + 1] !== '\n') cell += c
  }
  if (quoted) throw new Error('the quotes of the last cell are not closed')
  if (cell !== '' || row.length) { end(); rows.push(row) }
  const [first, ...body] = rows.filter((r) => r.length > 1 || r[0] !== '')
  if (!first) throw new Error('the file is empty')
  // A table that was saved here has fields.year for year.
  const saved = first.some((n) => n.startsWith('fields.'))
  const named = first.map((n, i) => (saved ? n.replace(/^fields\./, '') : n).trim() || `column ${i + 1}`)
  const head = named.map((n, i) => { // each has a name of its own
    const before = named.slice(0, i).filter((o) => o === n).length
    return before ? `${n} (${before + 1})` : n
  })
  return body.map((r, i) => {
    if (r.length > head.length) throw new Error(`row ${i + 2} has ${r.length} cells: want ${head.length}`)
    return Object.fromEntries(head.map((name, j) => [name, r[j] ?? '']).filter(([, v]) => v !== ''))
  })
}

export const columnsOf = (rows: Row[]) => [...new Set(rows.slice(0, 1000).flatMap((r) => Object.keys(r)))]

const parsed = (text: string): unknown => { try { return JSON.parse(text) } catch { return undefined } }

/** vectorsOf returns the vectors of a value: it is one, or a list of several, also as JSON. */
export function vectorsOf(value: unknown): number[][] | undefined {
  const numbers = (v: unknown): v is number[] => Array.isArray(v) && v.length > 2 && v.every((x) => typeof x === 'number')
  const v = typeof value === 'string' && /^\[[-\d.,eE+\s[\]]+\]$/.test(value.trim()) ? parsed(value) : value
  return numbers(v) ? [v] : Array.isArray(v) && v.length > 0 && v.every(numbers) ? v : undefined
}

/** isWeighted reports whether a value is an object of tokens and weights. */
export const isWeighted = (v: unknown) => isObject(v) && Object.values(v).length > 0 && Object.values(v).every((w) => typeof w === 'number' && w >= 0)

/** typeOf guesses the type of a column from its values. */
function typeOf(rows: Row[], column: string): string {
  const values = rows.slice(0, 1000).map((r) => r[column]).filter((v) => v !== undefined && v !== null && v !== '')
  const every = (test: (v: unknown) => unknown) => values.length > 0 && values.every(test)
  if (every((v) => isObject(v) && 'lat' in v && 'lon' in v)) return 'geo'
  const pair = /^-?\d{1,2}(\.\d+)?\s*,\s*-?\d{1,3}\.\d+$/ // latitude and longitude
  if (every((v) => typeof v === 'string' && pair.test(v.trim()))) return 'geo'
  // Codes are no quantities: their zeros at the front, and all digits of long ones, must stay.
  if (every((v) => /^\d+$/.test(String(v).trim())) && values.some((v) => /^(0\d|\d{13})/.test(String(v).trim()))) return 'keyword'
  if (every((v) => typeof v === 'number' || (typeof v === 'string' && /^-?\d+(\.\d+)?$/.test(v.trim())))) return 'number'
  if (every((v) => typeof v === 'string' && /^\d{4}-\d{2}(-\d{2}(T\d{2}:\d{2}|$)|$)/.test(v))) return 'date'
  if (every(isWeighted)) return 'sparse'
  if (every(vectorsOf) && new Set(values.flatMap((v) => vectorsOf(v)!.map((x) => x.length))).size === 1) return 'vector'
  if (every((v) => Array.isArray(v) ? v.every((x) => typeof x === 'string') : typeof v === 'boolean')) return 'keyword'
  const texts = values.map(String)
  const different = new Set(texts).size
  const longest = Math.max(0, ...texts.map((t) => t.length))
  if (/^(title|name|text|body|contents?|abstract|description)$/i.test(column)) return 'text'
  // Values of keywords are short, and repeat.
  return longest <= 60 && different < texts.length && (different <= 20 || different <= texts.length / 4) ? 'keyword' : 'text'
}

/** withoutPosition counts features of GeoJSON that are no points. */
export const withoutPosition = (name: string, rows: Row[]) => (/geojson$/i.test(name) ? rows.filter((r) => r.location === undefined).length : 0)

/** textOf decodes a file: as its byte-order mark says, or UTF-8, or else as Windows has Western texts. */
export function textOf(bytes: ArrayBuffer, encoding = ''): { text: string; encoding: string } {
  const b = new Uint8Array(bytes, 0, Math.min(4, bytes.byteLength))
  const marked = b[0] === 0xff && b[1] === 0xfe ? 'utf-16le' : b[0] === 0xfe && b[1] === 0xff ? 'utf-16be' : ''
  const asked = encoding || marked
  if (asked) return { text: new TextDecoder(asked, { fatal: asked !== 'windows-1252' }).decode(bytes), encoding: asked }
  try { return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), encoding: 'utf-8' } } catch {
    if (new Uint8Array(bytes).includes(0)) throw new Error('it is no text')
    return { text: new TextDecoder('windows-1252').decode(bytes), encoding: 'windows-1252' }
  }
}

/** typesOf guesses the types of columns. */
export const typesOf = (rows: Row[], columns: string[]): Record<string, string> => Object.fromEntries(columns.map((c) => [c, typeOf(rows, c)]))

/**
 * fieldNames returns a name for each column as fields may have it: letters without accents, digits and
 * _.-, beginning with a letter, and not that of the ID of documents.
 */
export function fieldNames(columns: string[]): Record<string, string> {
  const taken = new Set(['id'])
  return Object.fromEntries(columns.map((c) => {
    const plain = c.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss').replace(/[^A-Za-z0-9_.-]+/g, '_').replace(/^[^A-Za-z]+|_+$/g, '') || 'field'
    let name = plain
    for (let n = 2; taken.has(name); n++) name = `${plain}_${n}`
    taken.add(name)
    return [c, name]
  }))
}

/** idOf returns the column that looks like the ID of a row, or '' if none does. */
export const idOf = (columns: string[]) => columns.find((c) => /^(id|_id|docno|docid|key|uuid)$/i.test(c)) ?? ''

const isLatitude = /^(lat|latitude)$/i, isLongitude = /^(lon|lng|long|longitude)$/i

/** located gives rows with columns of latitude and longitude a position, and names these columns. */
export function located(rows: Row[]): { rows: Row[]; from: string[] } {
  const columns = columnsOf(rows)
  const lat = columns.find((c) => isLatitude.test(c)), lon = columns.find((c) => isLongitude.test(c))
  if (!lat || !lon || columns.includes('location')) return { rows, from: [] }
  const number = (v: unknown) => (v === '' || v === null || v === undefined ? NaN : Number(v))
  return {
    rows: rows.map((row) => {
      const at = { lat: number(row[lat]), lon: number(row[lon]) }
      return Math.abs(at.lat) <= 90 && Math.abs(at.lon) <= 180 ? { ...row, location: at } : row
    }),
    from: [lat, lon],
  }
}
