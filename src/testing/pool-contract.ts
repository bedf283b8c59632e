// What every store of pools must do: the rules of docs/spec/pool.md.
import { browseCases } from './browse-contract.ts'
import { changeCases } from './change-contract.ts'
import { type OpenSubject, registerCases } from './contract.ts'
import { debounceCases } from './debounce-contract.ts'
import { controlCases } from './control-contract.ts'
import { deadCases } from './dead-contract.ts'
import { deathsCases } from './deaths-contract.ts'
import { laneCases } from './lane-contract.ts'
import { markCases } from './mark-contract.ts'
import { payloadsCases } from './payloads-contract.ts'
import { progressCases } from './progress-contract.ts'
import { plainPutCases } from './put-contract.ts'
import { putListCases } from './put-list-contract.ts'
import { putTableCases } from './put-table-contract.ts'
import { repeatCases } from './repeat-contract.ts'
import { placeCases } from './place-contract.ts'
import { settleCases } from './settle-contract.ts'
import { takeCases } from './take-contract.ts'
import { takeManyCases } from './take-many-contract.ts'
import { throttleCases } from './throttle-contract.ts'

export function poolContract(name: string, open: OpenSubject): void {
  registerCases(`${name}: put table`, open, putTableCases)
  registerCases(`${name}: put`, open, plainPutCases)
  registerCases(`${name}: lists`, open, putListCases)
  registerCases(`${name}: lanes`, open, laneCases)
  registerCases(`${name}: debounce`, open, debounceCases)
  registerCases(`${name}: payloads`, open, payloadsCases)
  registerCases(`${name}: throttle`, open, throttleCases)
  registerCases(`${name}: repeated requests`, open, repeatCases)
  registerCases(`${name}: cancel and reschedule`, open, changeCases)
  registerCases(`${name}: take`, open, [...takeCases, ...takeManyCases])
  registerCases(`${name}: settle`, open, settleCases)
  registerCases(`${name}: places`, open, placeCases)
  registerCases(`${name}: mark`, open, markCases)
  registerCases(`${name}: dead`, open, deadCases)
  registerCases(`${name}: deaths`, open, deathsCases)
  registerCases(`${name}: progress`, open, progressCases)
  registerCases(`${name}: control`, open, controlCases)
  registerCases(`${name}: browse`, open, browseCases)
}
