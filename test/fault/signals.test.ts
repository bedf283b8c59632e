// What a signal does to a process that works, with `signals` and without.
import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { type TestContext, describe, test } from 'node:test'

const program = join(import.meta.dirname, 'work-until-signal.ts')

interface Working {
  child: ChildProcessByStdio<null, Readable, Readable>
  printed: string[]
  warned: string[]
  /** Its exit code, or the signal that ended it. */
  ended: Promise<unknown>
}

/** A process whose run has begun. */
async function begin(t: TestContext, ...args: string[]): Promise<Working> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => void child.kill('SIGKILL'))
  const signal = AbortSignal.timeout(30_000)
  const [printed, warned]: string[][] = [[], []]
  const lines = createInterface(child.stdout).on('line', (line) => printed?.push(line))
  createInterface(child.stderr).on('line', (line) => warned?.push(line))
  const ended = once(child, 'close', { signal }).then(([code, by]: unknown[]) => code ?? by)
  await once(lines, 'line', { signal })
  return { child, printed: printed ?? [], warned: warned ?? [], ended }
}

void describe('signals', { concurrency: true }, () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    void test(`with signals: true a ${signal} lets the run end, and the process with code 0`, async (t) => {
      const { child, printed, warned, ended } = await begin(t, 'true', 'short')
      child.kill(signal)
      assert.deepEqual([await ended, printed, warned], [0, ['began', 'ended'], []])
    })
  }

  void test('with signals: true a second signal ends the process at once', async (t) => {
    const { child, printed, ended } = await begin(t, 'true', 'endless')
    child.kill('SIGTERM')
    child.kill('SIGINT')
    assert.match(String(await ended), /^SIG(INT|TERM)$/)
    assert.deepEqual(printed, ['began'])
  })

  void test('with signals: true a process that has more to do ends by the signal after the stop', async (t) => {
    const { child, printed, ended } = await begin(t, 'true', 'busy')
    child.kill('SIGTERM')
    assert.deepEqual([await ended, printed], ['SIGTERM', ['began', 'ended']])
  })

  void test('a worker whose process does not listen to SIGTERM says so once', async (t) => {
    const { child, warned, ended } = await begin(t, 'none', 'endless')
    await once(child.stderr, 'data', { signal: AbortSignal.timeout(30_000) })
    child.kill('SIGTERM')
    assert.equal(await ended, 'SIGTERM')
    assert.equal(warned.length, 1)
    assert.match(
      warned[0] ?? '',
      /^headrace: nothing listens to SIGTERM: .*\(of work\).*; pass signals: true to headrace\(\)/,
    )
  })

  for (const signals of ['false', 'own']) {
    void test(`a worker with signals ${signals} gives no warning`, async (t) => {
      // Its run is longer than the time after which the warning would come.
      const { child, printed, warned } = await begin(t, signals, 'long')
      await once(child.stdout, 'data', { signal: AbortSignal.timeout(30_000) })
      assert.deepEqual([printed, warned], [['began', 'ended'], []])
    })
  }
})
