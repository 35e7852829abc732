import type { Concordance } from './api'

export type Line = Concordance['lines'][number]

/** A line of a concordance in columns: the words beside the match, nearest first, and what is beyond them. */
export interface Columns { before: string; left: string[]; right: string[]; after: string }

export const near = 3

/** columnsOf divides the context of a match. Punctuation without letters belongs to the word before it. */
export function columnsOf(l: Line): Columns {
  const words = (text: string) => text.split(' ').filter(Boolean).reduce<string[]>((list, w) => {
    if (list.length && !/[\p{L}\p{N}]/u.test(w)) list[list.length - 1] += ' ' + w
    else list.push(w)
    return list
  }, [])
  const left = words(l.left), right = words(l.right)
  // What is attached to the match, such as a comma, is no word.
  if (right.length && !/[\p{L}\p{N}]/u.test(right[0].split(' ')[0])) right.splice(0, 2, right.slice(0, 2).join(' '))
  return {
    before: left.slice(0, -near).join(' '), left: left.slice(-near).reverse(),
    right: right.slice(0, near), after: right.slice(near).join(' '),
  }
}

/** The line that was opened last, which the reader looks for. */
export const opened: { line?: Line } = {}

/** isAt reports whether a marked word of a text, between two parts of it, is the match of a line. */
export function isAt(l: Line, before: string, after: string): boolean {
  const one = (s: string) => s.replace(/\s+/g, '')
  const [a, b] = [one(l.left).slice(-24), one(l.right).slice(0, 24)]
  return one(before).endsWith(a) && one(after).startsWith(b)
}
