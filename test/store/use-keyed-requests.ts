import type { RequestId } from '../../src/core/keyed-request.ts'
import type { StoreWriter } from '../../src/store/store.ts'

/** Calls every function of the repository. */
export async function useKeyedRequests(requests: StoreWriter['keyedRequests']): Promise<void> {
  const id = 'r1' as RequestId
  await requests.begin({ key: 'k', id, holder: 'operator', content: 'c', begunAt: 1 }, { requests: 1, bodies: 1 })
  await requests.effect(id)
  await requests.took(id, 'made')
  await requests.answered(id, 200, '{}')
  await requests.forgetAnswers()
  await requests.sweep(1, 1)
  await requests.drop(id)
}
