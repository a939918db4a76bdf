import type { PeopleReport, PersonReport } from '../../core/operate-people.ts'
import { columns } from './columns.ts'
import { oneLine } from './plain.ts'
import type { Style } from './style.ts'
import { formatTime } from './time.ts'

/** Returns one line for each id, and below them who was joined and separated when. */
export function printPeople({ people, changes }: PeopleReport, style: Style): string[] {
  if (people.length === 0) return ['Nobody is known yet. "parley status" shows how to become the owner.']
  const [header = '', ...rows] = columns([['PERSON', 'ROLE', 'ID', 'FROM'], ...people.flatMap(personRows)])
  const log = changes.map(({ at, kind, person, id, by }) => [
    formatTime(at),
    kind,
    oneLine(person),
    oneLine(id),
    `by ${oneLine(by)}`,
  ])
  return [style.bold(header), ...rows, ...(log.length === 0 ? [] : ['', style.bold('Changes'), ...columns(log)])]
}

function personRows({ name, role, ids }: PersonReport): string[][] {
  if (ids.length === 0) return [[oneLine(name), role, '-', '']]
  return ids.map(({ id, from, overruledBy }) => {
    const origin =
      overruledBy === undefined ? from : `${from}, but the configuration gives it to ${oneLine(overruledBy)}`
    return [oneLine(name), role, oneLine(id), origin]
  })
}
