/** Finds the name that a misspelled one was probably meant to be. */

/** With more changes than this it is a different word. */
const CHANGES_MAX = 3

/** The known name with the fewest changed letters; undefined when all of them are far away. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[-_]/g, '')
  let best: string | undefined
  let bestChanges = Math.min(CHANGES_MAX, Math.ceil(name.length / 2)) + 1
  for (const other of known) {
    const count = changes(plain(name), plain(other))
    if (count < bestChanges) [best, bestChanges] = [other, count]
  }
  return best
}

/** How many letters must be added, removed or replaced to make one text the other. */
function changes(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let at = 1; at <= one.length; at++) {
    const next = [at]
    for (let to = 1; to <= other.length; to++) {
      const replaced = (row[to - 1] ?? 0) + (one[at - 1] === other[to - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
