// In a search, words side by side are alternatives; in a filter all must match. So a query that becomes
// a filter says OR.

const open = '([{', close = ')]}'

/** tokens divides a query at blanks outside of quotes, brackets and groups. */
export function tokens(q: string): string[] {
  const out: string[] = []
  let token = '', depth = 0, quoted = false
  for (let i = 0; i < q.length; i++) {
    const c = q[i]
    if (c === '\\') { token += c + (q[++i] ?? ''); continue }
    if (c === '"') quoted = !quoted
    else if (!quoted && open.includes(c)) depth++
    else if (!quoted && close.includes(c)) depth = Math.max(0, depth - 1)
    if (/\s/.test(c) && !quoted && depth === 0) {
      if (token) out.push(token)
      token = ''
    } else token += c
  }
  return token ? [...out, token] : out
}

const binary = /^(AND|OR|&&|\|\||(NEAR|BEFORE)\/\d+)$/

/** matching returns a filter that matches what a search for a query does. */
export function matching(q: string): string {
  const must: string[] = [], may: string[] = []
  let needed = false
  const list = tokens(q)
  for (let i = 0; i < list.length;) {
    const clause = [list[i++]]
    const negated = clause[0] === 'NOT' && i < list.length
    if (negated) clause.push(group(list[i++]))
    while (i + 1 < list.length && binary.test(list[i])) {
      clause.push(list[i++])
      if (list[i] === 'NOT' && i + 1 < list.length) clause.push(list[i++])
      clause.push(group(list[i++]))
    }
    if (clause.length > 1) (negated && clause.length === 2 ? must : may).push(negated && clause.length === 2 ? clause.join(' ') : `(${clause.join(' ')})`)
    else if (/^[-+#!]./.test(clause[0])) {
      needed ||= clause[0][0] === '+'
      must.push((/^[-!]/.test(clause[0]) ? 'NOT ' : '') + group(clause[0].slice(1)))
    }
    else may.push(group(clause[0]))
  }
  // Optional parts select nothing beside parts that must match.
  if (may.length && !needed) must.unshift(may.length > 1 ? `(${may.join(' OR ')})` : may[0])
  return must.length > 1 ? `(${must.join(' AND ')})` : must.join('')
}

/** group applies matching inside of parentheses, also after the name of a field. */
function group(token: string): string {
  const parts = /^([\w.-]+:)?\((.*)\)((?:\^[\d.]+)?)$/s.exec(token)
  if (!parts) return token
  const inside = matching(parts[2])
  return (parts[1] ?? '') + (inside.startsWith('(') && inside.endsWith(')') ? inside : `(${inside})`) + parts[3]
}
