import { expect, it } from 'vitest'
import { readAttachments } from '../../../adapters/telegram/inbound/read-parts.ts'

it.each([-1, 1.5, 1e300, '7', null])('F-G01: a file whose size is %j is a file of unknown size', (file_size) => {
  expect(readAttachments({ document: { file_id: 'a', file_size } })).toEqual([{ ref: 'a', kind: 'document' }])
})

it('F-G01: of a picture in sizes that are none some size is taken', () => {
  const photo = [{ file_id: 'a', width: -1, height: 3 }, { file_id: 'b' }, { file_id: 'c', width: 2, height: 2 }]
  expect(readAttachments({ photo })).toMatchObject([{ ref: 'c', kind: 'photo' }])
})
