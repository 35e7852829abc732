import { ByteWriter, parquetWrite, type BasicType } from 'hyparquet-writer'
import { plainly } from './format'
import type { Value } from './api'

type Row = Record<string, unknown>

/** flat makes one level of an object: {fields: {year: 1}} has the column fields.year, as in CSV. */
function flat(row: Row, before = '', out: Row = {}): Row {
  for (const [name, value] of Object.entries(row)) {
    if (value === null || value === undefined) continue
    if (typeof value !== 'object') out[before + name] = value
    else if (!Array.isArray(value)) flat(value as Row, `${before}${name}.`, out)
    else if (value.some((v) => typeof v === 'object')) out[before + name] = JSON.stringify(value)
    else out[before + name] = value.join('; ')
  }
  return out
}

/** column chooses the type that holds all values: a text if they are of several kinds. */
function column(name: string, data: unknown[]): { name: string; data: unknown[]; type: BasicType } {
  const values = data.filter((v) => v !== undefined)
  const every = (test: (v: unknown) => boolean) => values.every(test)
  if (every((v) => typeof v === 'boolean')) return { name, data, type: 'BOOLEAN' }
  if (every((v) => Number.isInteger(v) && Math.abs(v as number) < 2 ** 31)) return { name, data, type: 'INT32' }
  if (every((v) => typeof v === 'number')) return { name, data, type: 'DOUBLE' }
  return { name, data: data.map((v) => (v === undefined ? undefined : typeof v === 'string' ? v : plainly(v as Value))), type: 'STRING' }
}

/** asParquet makes a file of rows. */
export function asParquet(rows: Row[]): ArrayBuffer {
  const table = rows.map((r) => flat(r))
  const names = [...new Set(table.flatMap((r) => Object.keys(r)))]
  if (!names.length) throw new Error('There are no rows to save.')
  const writer = new ByteWriter()
  parquetWrite({ writer, columnData: names.map((n) => column(n, table.map((r) => r[n]))), createdBy: 'collocate' })
  return writer.getBuffer()
}
