// How wide a page of due times is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAGE_MS, PageWidth } from '../../../../src/stores/postgres/page-width.ts'

const NOW = 1_700_000_000_000

/** Reads everything at a server that passes so many entries in a millisecond; answers how long that takes. */
function readAll(pages: PageWidth, { density, sinceMs }: { density: number; sinceMs: number }): number {
  let [from, tookMs] = [0, 0]
  for (let page = 0; page < 1000; page += 1) {
    const end = pages.end(from, NOW)
    const deadMs = Math.max(0, Math.min(end ?? NOW, NOW) - Math.max(from, NOW - sinceMs))
    const needsMs = 1 + (deadMs * density) / 4000
    if (needsMs > pages.boundMs) {
      tookMs += pages.boundMs
      pages.tooLong(from, end, NOW)
      continue
    }
    tookMs += needsMs
    pages.read(from, end, needsMs)
    if (end === null) return tookMs
    from = end
  }
  throw new Error('it has no end')
}

test('[Y16] nothing that is quick is read in pages', () => {
  const pages = new PageWidth()
  assert.equal(pages.end(0, NOW), null)
  pages.read(0, null, 10)
  assert.equal(pages.end(0, NOW), null)
})

test('[Y16] pages pass twelve million entries in little more than it takes to read them, however they are spread', () => {
  for (const sinceMs of [10, 1000, 60_000, 3_600_000, 86_400_000]) {
    const tookMs = readAll(new PageWidth(), { density: 12_000_000 / sinceMs, sinceMs })
    assert.ok(tookMs < 3 * 3000 + 10 * PAGE_MS, `${sinceMs} ms: ${tookMs} ms`)
  }
})

test('[Y16] a page that cannot be narrower gets more time', () => {
  const tookMs = readAll(new PageWidth(), { density: 12_000_000, sinceMs: 1 })
  assert.ok(tookMs < 30_000, `${tookMs} ms`)
})

test('[Y16] once everything was read without delay it is one page again', () => {
  const pages = new PageWidth()
  readAll(pages, { density: 500, sinceMs: 60_000 })
  assert.notEqual(pages.end(0, NOW), null)
  readAll(pages, { density: 0, sinceMs: 1 })
  assert.equal(pages.end(0, NOW), null)
})
