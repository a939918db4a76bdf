import type { AdmissionReport } from '../../core/operate-admissions.ts'
import { notedColumns } from './columns.ts'
import { oneLine } from './plain.ts'
import type { Style } from './style.ts'
import { formatTime } from './time.ts'

/** Returns two lines or more for each applicant, newest first. */
export function printAdmissions(admissions: readonly AdmissionReport[], width: number, style: Style): string[] {
  if (admissions.length === 0) return ['Nobody has asked to be let in.']
  const titles = ['CODE', 'STATE', 'WHO OR WHERE', 'NAME']
  const [header = '', ...rows] = notedColumns(titles, admissions.map(rowOf), width)
  return [style.bold(header), ...rows]
}

function rowOf({ code, state, key, name, askedAt, decidedAt, decidedBy = '', toldAt }: AdmissionReport) {
  const waits = toldAt === undefined ? ', no owner was notified yet' : ''
  const decided = decidedAt === undefined ? waits : `, decided ${formatTime(decidedAt)} by ${oneLine(decidedBy)}`
  return {
    cells: [code, state, oneLine(key), oneLine(name) || '-'],
    note: `asked ${formatTime(askedAt)}${decided}`,
  }
}
