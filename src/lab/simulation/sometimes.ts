// Races that a simulation must meet now and then: one that is never met proves nothing about it.

export const RACES = [
  'a call was refused before its effect',
  'an answer was lost after its effect',
  'a member died with a call under way',
  'a call took effect after its sender had died',
  'a fenced write was refused',
  'a partition was taken over from the dead',
  'a partition was handed over by the living',
  'the leader changed',
  'a member was declared dead and came back',
  'a put joined a run that is due',
  'a cancel came too late',
  'a tick was moved to another time',
] as const

export type Race = (typeof RACES)[number]

export type RaceCounts = Record<Race, number>

export function noRaces(): RaceCounts {
  return Object.fromEntries(RACES.map((race) => [race, 0])) as RaceCounts
}
