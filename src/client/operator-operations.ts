import type { ExportRecord } from '../core/export-format.ts'
import type { ForgetReceipt } from '../core/forgetting.ts'
import type { AdmissionReport } from '../core/operate-admissions.ts'
import type { ApprovalReport } from '../core/operate-approvals.ts'
import type { ArchivedFile, ArchivePage, ArchiveQuery } from '../core/operate-archives.ts'
import type { ReloadReport } from '../core/operate-config.ts'
import type { ForgetRequest, RetentionReport } from '../core/operate-forgetting.ts'
import type { MemoryReport } from '../core/operate-memory.ts'
import type { RestorationReport } from '../core/operate-outbox.ts'
import type { LinkedId, PeopleReport } from '../core/operate-people.ts'
import type { NamedToken, NewToken, TokenReport } from '../core/operate-tokens.ts'
import type { StatusReport, WhyReport } from '../core/operator.ts'
import type { Relocation, RelocationRequest } from '../core/relocation.ts'
import { type ApiCall, at, type CallOperation } from './call.ts'

/** A large store is read as a whole. */
const FORGETS_MS = 600_000

/** Returns the operations that the token of an owner may have, and those that everybody has. */
export function operatorOperations(call: CallOperation) {
  const get = <Answer>(operation: string, path: string, query: ApiCall['query'] = {}) =>
    call<Answer>(operation, { method: 'GET', path, query })
  const post = <Answer>(operation: string, path: string, more: Pick<ApiCall, 'query' | 'body' | 'waitMs'> = {}) =>
    call<Answer>(operation, { method: 'POST', path, ...more })
  const remove = <Answer>(operation: string, path: string) => call<Answer>(operation, { method: 'DELETE', path })
  return {
    health: { show: () => get<{ readonly status: string }>('health.show', '/healthz') },
    status: { show: () => get<StatusReport>('status.show', '/v1/status') },
    /** The description of this API, as OpenAPI has it. */
    document: { load: () => get<Readonly<Record<string, unknown>>>('document.load', '/v1/openapi.json') },
    message: {
      /** By a link, an inbox id, a trace id or the platform's id of a message. */
      why: (message: string) => get<readonly WhyReport[]>('message.why', '/v1/why', { message }),
      unseen: (message: string) => get<readonly string[]>('message.unseen', '/v1/unseen', { message }),
    },
    archive: {
      page: async (name: string, { after, limit, opaque }: Partial<ArchiveQuery> = {}) =>
        get<ArchivePage>('archive.page', at`/v1/archives/${name}`, { after, limit, opaque }),
      file: async (name: string, media: string) =>
        get<ArchivedFile>('archive.file', at`/v1/archives/${name}/files`, { media }),
      exported: async (name: string, record: ExportRecord) =>
        post<{ readonly recorded: boolean }>('archive.exported', at`/v1/archives/${name}/exported`, { body: record }),
      relocate: async (name: string, request: RelocationRequest) =>
        post<Relocation>('archive.relocate', at`/v1/archives/${name}/relocate`, { body: request }),
    },
    token: {
      list: () => get<readonly TokenReport[]>('token.list', '/v1/tokens'),
      create: (request: NewToken) =>
        post<TokenReport & { readonly token: string }>('token.create', '/v1/tokens', { body: request }),
      revoke: async (id: string) =>
        remove<{ readonly revoked: boolean; readonly also?: readonly NamedToken[] }>(
          'token.revoke',
          at`/v1/tokens/${id}`,
        ),
    },
    person: {
      list: () => get<PeopleReport>('person.list', '/v1/people'),
      link: (person: string, id: string) => post<LinkedId>('person.link', '/v1/people/link', { query: { person, id } }),
      unlink: (id: string) => post<LinkedId>('person.unlink', '/v1/people/unlink', { query: { id } }),
    },
    admission: {
      list: () => get<readonly AdmissionReport[]>('admission.list', '/v1/admissions'),
      admit: (name: string) => post<AdmissionReport>('admission.admit', '/v1/admissions/admit', { query: { name } }),
      deny: (name: string) => post<AdmissionReport>('admission.deny', '/v1/admissions/deny', { query: { name } }),
    },
    approval: {
      list: () => get<readonly ApprovalReport[]>('approval.list', '/v1/approvals'),
      approve: (code: string) => post<ApprovalReport>('approval.approve', '/v1/approvals/approve', { query: { code } }),
      deny: (code: string) => post<ApprovalReport>('approval.deny', '/v1/approvals/deny', { query: { code } }),
    },
    outbox: {
      /** An empty list if the database was never put back. */
      restoration: () => get<readonly RestorationReport[]>('outbox.restoration', '/v1/outbox/restoration'),
      resume: () => post<RestorationReport>('outbox.resume', '/v1/outbox/resume'),
      discard: () => post<RestorationReport>('outbox.discard', '/v1/outbox/discard'),
    },
    memory: {
      list: (query: { readonly words?: string; readonly before?: number } = {}) =>
        get<readonly MemoryReport[]>('memory.list', '/v1/memory', { ...query }),
      show: (no: number) => get<MemoryReport>('memory.show', `/v1/memory/${no}`),
      remove: (no: number) => remove<MemoryReport>('memory.remove', `/v1/memory/${no}`),
    },
    forgetting: {
      forget: (request: ForgetRequest) =>
        post<ForgetReceipt>('forgetting.forget', '/v1/forget', { body: request, waitMs: FORGETS_MS }),
    },
    retention: {
      list: () => get<readonly RetentionReport[]>('retention.list', '/v1/retention'),
      run: () => post<readonly RetentionReport[]>('retention.run', '/v1/retention/run', { waitMs: FORGETS_MS }),
    },
    config: { reload: () => post<ReloadReport>('config.reload', '/v1/config/reload') },
  }
}
