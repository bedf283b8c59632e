// What the host of a virtual machine took from it while it wanted to work. What is measured meanwhile says more
// about the neighbours than about the program.
import { readFileSync } from 'node:fs'

export interface CoreTime {
  all: number
  stolen: number
}

/** The time of all cores since the start, in ticks of the system. Undefined where the system does not tell. */
export function readCoreTime(): CoreTime | undefined {
  if (process.platform !== 'linux') return undefined
  return parseCoreTime(readFileSync('/proc/stat', 'utf8'))
}

/** Of the first line, `cpu user nice system idle iowait irq softirq steal guest guest_nice`; guests count as users. */
export function parseCoreTime(stat: string): CoreTime | undefined {
  const [name, ...fields] = stat.split('\n', 1)[0]?.trim().split(/\s+/) ?? []
  const times = fields.slice(0, 8).map(Number)
  const stolen = times[7]
  if (name !== 'cpu' || stolen === undefined) return undefined
  return { all: times.reduce((sum, time) => sum + time, 0), stolen }
}

/** Percent of all cores' time that was stolen between the two; undefined when that is not known. */
export function stolenBetween(before: CoreTime | undefined, after: CoreTime | undefined): number | undefined {
  if (before === undefined || after === undefined || after.all === before.all) return undefined
  return (100 * (after.stolen - before.stolen)) / (after.all - before.all)
}
