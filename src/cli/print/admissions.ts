import type { AdmissionReport } from '../../core/operate-admissions.ts'
import { columns } from './columns.ts'
import { oneLine } from './plain.ts'
import type { Style } from './style.ts'
import { formatTime } from './time.ts'

/** Returns one line for each applicant, newest first. */
export function printAdmissions(admissions: readonly AdmissionReport[], style: Style): string[] {
  if (admissions.length === 0) return ['Nobody has asked to be let in.']
  const [header = '', ...rows] = columns([
    ['CODE', 'STATE', 'WHO OR WHERE', 'NAME', 'ASKED', 'DECIDED'],
    ...admissions.map(row),
  ])
  return [style.bold(header), ...rows]
}

function row({ code, state, key, name, askedAt, decidedAt, decidedBy, toldAt }: AdmissionReport): string[] {
  const waits = toldAt === undefined ? 'no owner was notified yet' : '-'
  const decided = decidedAt === undefined ? waits : `${formatTime(decidedAt)} by ${oneLine(decidedBy ?? '')}`
  return [code, state, oneLine(key), oneLine(name) || '-', formatTime(askedAt), decided]
}
