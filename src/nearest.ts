// The word that was probably meant.

/** Names are no longer than 63 characters; what is much longer than one is near to none. */
const LONGEST_WORD = 96
/** How many candidates are compared at most: a store may have any number of pools. */
export const MOST_CANDIDATES = 1000

/** The candidate with the fewest edits away from `word`, or null when none is near. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  if (word.length > LONGEST_WORD) return null
  const asked = word.toLowerCase()
  let best: string | null = null
  let fewest = Math.max(2, Math.floor(word.length / 3)) + 1
  let compared = 0
  for (const candidate of candidates) {
    // Words whose lengths differ by more need more edits.
    if (Math.abs(candidate.length - word.length) >= fewest) continue
    if ((compared += 1) > MOST_CANDIDATES) break
    const edits = distance(asked, candidate.toLowerCase(), fewest)
    if (edits < fewest) {
      best = candidate
      fewest = edits
    }
  }
  return best
}

/** Levenshtein's distance, one row at a time; `most` if it is that or more. */
function distance(a: string, b: string, most: number): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const edits = Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1)
      next.push(edits)
      if (edits < least) least = edits
    }
    if (least >= most) return most
    row = next
  }
  return row[b.length] as number
}
