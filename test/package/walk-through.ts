// Follows a page of docs as a reader would, in a folder that has the package installed. Words behind the language of a block say
// what is done with it, and no reader sees them:
//   sh installed                     what the installation of this test stands for
//   sh                               commands that must succeed
//   sh background=NAME until=TEXT    a terminal of its own, which goes on; waits until it has printed the text
//   console                          commands behind `$ `, each followed by lines that it prints
//   js file=NAME                     is written to the file
//   text from=NAME                   lines that the terminal of this name prints, sooner or later
// Lines are compared without times, durations and names of processes, in their order; `…` stands for anything.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { environmentOf } from './install.ts'

interface Block {
  language: string
  words: Record<string, string>
  text: string
}

interface Terminal {
  child: ChildProcess
  printed: string
}

const WITHIN_MS = 60_000

export class Walk {
  readonly #folder: string
  readonly #port: number
  readonly #terminals = new Map<string, Terminal>()

  private constructor(folder: string, port: number) {
    this.#folder = folder
    this.#port = port
  }

  static async begin(folder: string): Promise<Walk> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    return new Walk(folder, port)
  }

  async follow(page: string): Promise<void> {
    for (const block of blocksOf(page)) {
      if ('installed' in block.words) assert.equal(block.text, 'npm install headrace\n')
      else if (block.language === 'console') await this.#converse(block)
      else if (block.language === 'sh') await this.#command(block)
      else if (block.words['file'] !== undefined)
        writeFileSync(join(this.#folder, block.words['file']), block.text)
      else if (block.words['from'] !== undefined) await this.#read(block.words['from'], block.text)
      else assert.fail(`nothing says what to do with this block of ${block.language}:\n${block.text}`)
    }
  }

  async end(): Promise<void> {
    for (const { child } of this.#terminals.values()) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const ended = once(child, 'close')
      // The whole group: npx and the shell have children.
      process.kill(-(child.pid ?? 0), 'SIGKILL')
      await ended
    }
  }

  async #command({ text, words }: Block): Promise<void> {
    const name = words['background']
    if (name === undefined) {
      await this.#run(text)
      return
    }
    const terminal = this.#open(text)
    this.#terminals.set(`${name}${this.#terminals.has(name) ? ' once more' : ''}`, terminal)
    await this.#until(terminal, `${name} prints ${words['until']}`, () =>
      terminal.printed.includes(words['until'] ?? ''),
    )
  }

  async #converse({ text }: Block): Promise<void> {
    for (const [, command = '', expected = ''] of text.matchAll(/^\$ (.+)\n((?:(?!\$ ).*\n)*)/gm)) {
      const printed = await this.#run(command)
      assert.ok(matches(printed, expected), `${command}\nprinted:\n${printed}\nexpected:\n${expected}`)
    }
  }

  async #read(name: string, expected: string): Promise<void> {
    const terminal = this.#terminals.get(name)
    assert.ok(terminal !== undefined, name)
    await this.#until(terminal, `${name} prints:\n${expected}`, () => matches(terminal.printed, expected))
  }

  /** What commands print, as a terminal shows it. */
  async #run(commands: string): Promise<string> {
    const terminal = this.#open(commands)
    const signal = AbortSignal.timeout(WITHIN_MS)
    const [code] = (await once(terminal.child, 'close', { signal })) as unknown[]
    assert.equal(code, 0, `${commands}\nprinted:\n${terminal.printed}`)
    return terminal.printed
  }

  #open(commands: string): Terminal {
    const address = `127.0.0.1:${this.#port}`
    const env = {
      ...environmentOf(process.execPath),
      HEADRACE_PORT: String(this.#port),
      HEADRACE_SERVER: `http://${address}`,
    }
    const args = ['-ec', commands.replaceAll('localhost:7400', address)]
    const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe']
    const terminal: Terminal = {
      child: spawn('bash', args, { cwd: this.#folder, env, stdio, detached: true }),
      printed: '',
    }
    const note = (data: Buffer): string => (terminal.printed += String(data))
    terminal.child.stdout?.on('data', note)
    terminal.child.stderr?.on('data', note)
    return terminal
  }

  async #until(terminal: Terminal, what: string, holds: () => boolean): Promise<void> {
    const deadline = performance.now() + WITHIN_MS
    while (!holds()) {
      assert.ok(performance.now() < deadline, `${what}\nit printed:\n${terminal.printed}`)
      await sleep(20)
    }
  }
}

export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w+)([^\n]*)\n([^]*?)^```$/gm)].map(
    ([, language = '', rest = '', text = '']) => ({
      language,
      words: Object.fromEntries(
        rest
          .trim()
          .split(/\s+/)
          .map((word) => [word.split('=')[0] ?? '', word.split('=')[1] ?? '']),
      ),
      text,
    }),
  )
}

/** Whether the expected lines are among those printed, in their order. */
export function matches(printed: string, expected: string): boolean {
  const wanted = linesOf(expected).filter((line) => line !== '…')
  let found = 0
  for (const line of linesOf(printed)) {
    const next = wanted[found]
    if (next !== undefined && patternOf(next).test(line)) found += 1
  }
  return found === wanted.length
}

function patternOf(line: string): RegExp {
  const parts = line.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.*')}$`)
}

/** Without what differs from run to run. */
function linesOf(text: string): string[] {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b\d+(\.\d+)? ?(ms|s)\b/g, 'DURATION')
    .replaceAll(/owned by \S+/g, 'owned by MEMBER')
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
}
