import type { Admission } from '../../core/admission.ts'
import { ParleyError } from '../../core/errors.ts'
import type { AdmissionOperator, AdmissionReport } from '../../core/operate-admissions.ts'
import { OPERATOR } from '../../core/platform-id.ts'
import type { Store } from '../../store/store.ts'
import type { Admissions } from './admissions.ts'

export interface OperateAdmissionsDeps {
  readonly store: Store
  /** Absent without a daemon: then nothing can be decided. */
  readonly admissions?: Pick<Admissions, 'decide'>
}

export function operateAdmissions({ store: { read }, admissions }: OperateAdmissionsDeps): AdmissionOperator {
  return {
    list: async () => (await read.admissions.all()).map(reportOf),
    async decide(name, verdict, by = OPERATOR) {
      if (!admissions)
        throw new ParleyError('unavailable', 'Start the daemon first: it handles what was said meanwhile.')
      return reportOf(await admissions.decide(name, verdict === 'admit' ? 'admitted' : 'denied', by))
    },
  }
}

function reportOf({ address: _address, traceId: _traceId, ...report }: Admission): AdmissionReport {
  return report
}
