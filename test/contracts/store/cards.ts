import { expect, it } from 'vitest'
import type { NoticeId } from '../../../src/core/ids.ts'
import type { ContractPart } from './under-test.ts'

const [ONE, TWO] = ['note_1' as NoticeId, 'note_2' as NoticeId]

export const cardContract: ContractPart = (underTest) => {
  it('S7: the messages about a question are listed until each is closed, after a restart too', async () => {
    await underTest.store.write(async ({ cards }) => {
      await cards.add('approval:aaaaa', TWO)
      await cards.add('approval:aaaaa', ONE)
      await cards.add('approval:aaaaa', ONE)
      await cards.add('admission:bbbbb', ONE)
    })
    const { read, write } = await underTest.reopen()
    expect(await read.cards.of('approval:aaaaa')).toEqual([ONE, TWO])
    expect(await read.cards.subjects()).toEqual(['admission:bbbbb', 'approval:aaaaa'])
    await write((tx) => tx.cards.remove('approval:aaaaa', ONE))
    expect(await read.cards.of('approval:aaaaa')).toEqual([TWO])
    await write((tx) => tx.cards.remove('approval:aaaaa', TWO))
    expect(await read.cards.subjects()).toEqual(['admission:bbbbb'])
    expect(await read.cards.of('approval:ccccc')).toEqual([])
  })
}
