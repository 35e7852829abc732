import type { Snippet } from './api'
import { pieces, type Piece } from './format'

/** markedWords returns the words that a snippet marks, as they are written there. */
export function markedWords(snippet: Snippet | undefined): string[] {
  if (!snippet) return []
  return [...new Set(pieces(snippet.text, snippet.marks).filter((p) => p.mark).map((p) => p.text))]
}

const address = /https?:\/\/[^\s<>"']+[^\s<>"'.,;:!?)\]]/g

/** linked divides a text into links, marked words and what is between them. */
export function linked(text: string, marks: string[]): (Piece & { link?: string })[] {
  const out: (Piece & { link?: string })[] = []
  const escaped = marks.map((m) => m.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+')).sort((a, b) => b.length - a.length)
  const words = escaped.length ? new RegExp(`(?<![\\p{L}\\p{N}])(?:${escaped.join('|')})(?![\\p{L}\\p{N}])`, 'gu') : undefined
  const plain = (part: string) => {
    let at = 0
    if (words) for (const m of part.matchAll(words)) {
      if (m.index > at) out.push({ text: part.slice(at, m.index), mark: false })
      out.push({ text: m[0], mark: true })
      at = m.index + m[0].length
    }
    if (at < part.length) out.push({ text: part.slice(at), mark: false })
  }
  let at = 0
  for (const m of text.matchAll(address)) {
    plain(text.slice(at, m.index))
    out.push({ text: m[0], mark: false, link: m[0] })
    at = m.index + m[0].length
  }
  plain(text.slice(at))
  return out
}
