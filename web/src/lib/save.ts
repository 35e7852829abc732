import { query, send, type Params } from './api'

/** save gives a file to the browser's downloads. */
export function save(name: string, content: Blob | string, type = 'text/plain') {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

export const formats = {
  csv: { title: 'CSV', accept: 'text/csv', ending: 'csv' },
  jsonl: { title: 'JSON lines', accept: 'application/x-ndjson', ending: 'jsonl' },
} as const

/** download saves the table of an answer, as rows. */
export async function download(path: string, params: Params, format: keyof typeof formats, name: string) {
  const { accept, ending } = formats[format]
  const response = await send(path + '?' + query(params), { headers: { Accept: accept } })
  save(`${name}.${ending}`, await response.blob())
}
