// How a bench looks: tables for people, one JSON document for programs.
import os from 'node:os'
import { type Column, formatTable } from '../src/cli/output.ts'
import { systemClock } from '../src/clock.ts'
import { type Bar, formatValue } from './measure.ts'
import type { Row } from './question.ts'

export interface BenchDocument {
  bench: string
  /** A quick run measures with less load and judges nothing. */
  quick: boolean
  machine: Machine
  node: string
  rows: Row[]
  bars: Bar[]
}

export interface Machine {
  cpu: string
  cores: number
  memory: string
  os: string
  /** Percent of all cores that other programs used in the second before the bench. */
  busyBefore: number
}

export async function describeMachine(): Promise<Machine> {
  return {
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    cores: os.availableParallelism(),
    memory: `${Math.round(os.totalmem() / 2 ** 30)} GiB`,
    os: `${os.type()} ${os.release()}`,
    busyBefore: await measureBusy(),
  }
}

async function measureBusy(): Promise<number> {
  const before = coreTimes()
  await systemClock.sleep(1000)
  const after = coreTimes()
  return Math.round((100 * (after.busy - before.busy)) / Math.max(after.all - before.all, 1))
}

function coreTimes(): { busy: number; all: number } {
  const times = os.cpus().map((core) => core.times)
  const all = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0)
  return { all, busy: all - times.reduce((sum, { idle }) => sum + idle, 0) }
}

const ROW_COLUMNS: Column<Row>[] = [
  { title: 'measured', text: ({ name }) => name },
  { title: 'value', align: 'right', text: ({ value, unit }) => formatValue(value, unit) },
]

/** The bars' units are those of their limits, so the value needs none. */
const BAR_COLUMNS: Column<Bar>[] = [
  { title: 'bar', text: ({ name }) => name },
  { title: 'value', align: 'right', text: ({ value }) => formatValue(value, '') },
  { title: 'must be', text: ({ bar }) => bar },
  { title: 'holds', text: ({ holds }) => (holds === true ? 'yes' : holds === false ? 'NO' : holds) },
]

export function formatBench({ bench, quick, machine, node, rows, bars }: BenchDocument): string {
  const { cpu, cores, memory, os: system, busyBefore } = machine
  const parts = [
    `${bench}: ${cpu}, ${cores} cores (${busyBefore} % busy before), ${memory}, ${system}, Node ${node}`,
    formatTable(ROW_COLUMNS, rows),
    formatTable(BAR_COLUMNS, bars),
  ]
  if (quick) parts.push('A quick run: less load, and no speed is judged.')
  return parts.join('\n\n')
}
