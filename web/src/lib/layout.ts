export interface Edge { from: number; to: number; weight: number }
export interface Place { x: number; y: number }

/**
 * arrange computes a force-directed layout: all nodes repel each other, links attract, and node 0 stays
 * in the middle. The result depends only on the input. A few hundred nodes take milliseconds.
 */
export function arrange(n: number, edges: Edge[], width: number, height: number): Place[] {
  const rx = width / 2 - 60
  const ry = height / 2 - 32
  // Initial positions are on a spiral in the unit disc.
  const at = Array.from({ length: n }, (_, i) => {
    const turn = i * 2.399963
    const r = i === 0 ? 0 : 0.35 + 0.5 * Math.sqrt(i / n)
    return { x: r * Math.cos(turn), y: r * Math.sin(turn) }
  })
  const ideal = 1.1 / Math.sqrt(Math.max(1, n))
  for (let round = 0; round < 300; round++) {
    const heat = 0.08 * (1 - round / 300)
    const move = at.map(() => ({ x: 0, y: 0 }))
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < i; j++) {
        const dx = at[i].x - at[j].x
        const dy = at[i].y - at[j].y
        const d2 = Math.max(1e-4, dx * dx + dy * dy)
        const f = (ideal * ideal) / d2
        move[i].x += dx * f; move[i].y += dy * f
        move[j].x -= dx * f; move[j].y -= dy * f
      }
    }
    for (const e of edges) {
      const dx = at[e.from].x - at[e.to].x
      const dy = at[e.from].y - at[e.to].y
      const f = (Math.hypot(dx, dy) / ideal) * 0.35 * e.weight
      move[e.from].x -= dx * f; move[e.from].y -= dy * f
      move[e.to].x += dx * f; move[e.to].y += dy * f
    }
    for (let i = 1; i < n; i++) {
      move[i].x -= at[i].x * 0.12
      move[i].y -= at[i].y * 0.12
      const d = Math.hypot(move[i].x, move[i].y) || 1
      const step = Math.min(d, heat) / d
      at[i].x += move[i].x * step
      at[i].y += move[i].y * step
    }
  }
  const farX = Math.max(1e-6, ...at.map((p) => Math.abs(p.x)))
  const farY = Math.max(1e-6, ...at.map((p) => Math.abs(p.y)))
  return at.map((p) => ({ x: width / 2 + (p.x / farX) * rx, y: height / 2 + (p.y / farY) * ry }))
}

/**
 * apart places labels above their points, and moves overlapping ones up and down until they do not
 * overlap, if there is space. The same points give the same places.
 */
export function apart(points: Place[], widths: number[], height: number, right: number, bottom: number): Place[] {
  const at = points.map((p, i) => ({
    x: Math.min(right - widths[i] / 2, Math.max(widths[i] / 2, p.x)), y: Math.max(height, p.y - 6),
  }))
  for (let round = 0; round < 200; round++) {
    let moved = false
    for (let i = 0; i < at.length; i++) {
      for (let j = 0; j < i; j++) {
        const over = height - Math.abs(at[i].y - at[j].y)
        if (over <= 0.1 || Math.abs(at[i].x - at[j].x) >= (widths[i] + widths[j]) / 2) continue
        const up = at[i].y < at[j].y || (at[i].y === at[j].y && points[i].y < points[j].y) ? i : j
        at[up].y = Math.max(height, at[up].y - over / 2)
        const down = up === i ? j : i
        at[down].y = Math.min(bottom - 4, at[down].y + over / 2)
        moved = true
      }
    }
    if (!moved) break
  }
  return at
}
