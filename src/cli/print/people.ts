import type { LetInReport, PeopleReport, PersonReport } from '../../core/operate-people.ts'
import { columns } from './columns.ts'
import { oneLine } from './plain.ts'
import type { Style } from './style.ts'
import { formatTime } from './time.ts'

/**
 * Returns one line for each id, then for everybody and every place that was let in, and below them who was joined and
 * separated when. `toOwn` says how to become the owner; empty where there is one.
 */
export function printPeople(
  { people, letIn, changes }: PeopleReport,
  style: Style,
  toOwn: readonly string[],
): string[] {
  const all = [...people.flatMap(personRows), ...letIn.map(letInRow)]
  const [header = '', ...rows] = columns([['PERSON', 'ROLE', 'ID', 'FROM'], ...all])
  const log = changes.map(({ at, kind, person, id, by }) => [
    formatTime(at),
    kind,
    oneLine(person),
    oneLine(id),
    `by ${oneLine(by)}`,
  ])
  return [
    ...(all.length === 0 ? ['Nobody is known yet.'] : [style.bold(header), ...rows]),
    ...toOwn.map((line) => `owner: nobody yet; ${line}`),
    ...(log.length === 0 ? [] : ['', style.bold('Changes'), ...columns(log)]),
  ]
}

function letInRow({ kind, key, name, at, by }: LetInReport): string[] {
  return [
    oneLine(name) || '-',
    kind === 'place' ? 'place' : 'guest',
    oneLine(key),
    `let in by ${oneLine(by)} ${formatTime(at)}`,
  ]
}

function personRows({ name, role, ids }: PersonReport): string[][] {
  if (ids.length === 0) return [[oneLine(name), role, '-', '']]
  return ids.map(({ id, from, overruledBy }) => {
    const origin =
      overruledBy === undefined ? from : `${from}, but the configuration gives it to ${oneLine(overruledBy)}`
    return [oneLine(name), role, oneLine(id), origin]
  })
}
