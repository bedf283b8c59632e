// Opens a contestant of any team.
import { openBossContestant } from './boss-contestant.ts'
import { openBullContestant } from './bull-contestant.ts'
import type { Contestant, Place, Setting } from './contestant.ts'
import { openGraphileContestant } from './graphile-contestant.ts'
import { openHeadraceContestant } from './headrace-contestant.ts'

export function open(setting: Setting, place: Place): Promise<Contestant> {
  switch (setting.team) {
    case 'Headrace':
      return openHeadraceContestant(setting, place)
    case 'graphile-worker':
      return openGraphileContestant(setting, place)
    case 'pg-boss':
      return openBossContestant(setting, place)
    case 'BullMQ':
      return openBullContestant(setting, place)
  }
}
