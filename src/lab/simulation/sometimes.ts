// Races that a simulation must meet now and then: one that is never met proves nothing about it.

export const RACES = [
  'a call was refused before its effect',
  'an answer was lost after its effect',
  'a call was made again after its answer was lost',
  'a member died with a call under way',
  'a call took effect after its sender had died',
  'a fenced write was refused',
  'a partition was taken over while a move was under way',
  'a partition was taken over from the dead',
  'a partition was handed over by the living',
  'the leader changed',
  'a leader was none any more when its decision came',
  'a member was declared dead while it lived',
  'a member was declared dead and came back',
  'an outage longer than the lease cost nobody a partition',
  'a member’s clock was set back',
  'the store’s clock was set back',
  'a hint was overtaken by a later one',
  'a put joined a run that is due',
  'a put was made again, and had been done',
  'a put was made again, and had not been done',
  'an arrival was folded late',
  'an arrival was folded by the next owner',
  'a transaction was rolled back',
  'a cancel came too late',
  'a tick was moved to another time',
  'a settle found its turn gone',
  'a settle was refused by its fence',
  'a take came back after its turn was settled',
  'a take came back under a later epoch',
  'a run was passed over because its key was in flight',
  'a handler ignored its abort',
  'a run was let go, and run again',
  'a run died with its member, and was run by another',
  'a run timed out',
  'a run was given up',
  'a dead entry was redriven',
  'a run was under way when its entry was cancelled',
  'a run was called off that another member had cancelled',
  'a run told how far it has come',
  'what a run told came too late',
  'a run ended its process',
  'a suspect was marked',
  'a mark found its turn gone',
  'a run was alone on its member',
  'a run was given up for its crashes',
] as const

export type Race = (typeof RACES)[number]

export type RaceCounts = Record<Race, number>

export function noRaces(): RaceCounts {
  return Object.fromEntries(RACES.map((race) => [race, 0])) as RaceCounts
}
