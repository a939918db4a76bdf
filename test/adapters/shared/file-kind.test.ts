import { expect, it } from 'vitest'
import { kindOfType } from '../../../adapters/shared/file-kind.ts'

it.each([
  ['audio/ogg', 'audio'],
  ['video/mp4', 'video'],
  ['video/mp2t', undefined],
  ['audio/x-mpegurl', undefined],
  ['application/vnd.apple.mpegurl', undefined],
  ['text/plain', undefined],
  [undefined, undefined],
])(
  'a file of the type %s that the platform names is of the kind %s, where its ending alone does not say so',
  (type, kind) => {
    expect(kindOfType(type)).toBe(kind)
  },
)
