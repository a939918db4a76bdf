import { describe, expect, it } from 'vitest'
import { readImageHeader } from '../../src/media/image-header.ts'
import { kindOf } from '../../src/media/media-kind.ts'
import { lookAt, paintDisc } from '../../src/rehearsal/paint.ts'

describe('a painted picture', () => {
  it.each(['red', 'green', 'yellow'])('is a PNG, and %s can be told by looking at it', async (colour) => {
    const picture = paintDisc(colour, 40)
    expect(await kindOf(picture)).toEqual({ type: 'image', mime: 'image/png' })
    expect(readImageHeader('image/png', picture)).toEqual({ width: 40, height: 40, moves: false })
    expect(lookAt(picture)).toEqual({ side: 40, colour })
  })

  it('of a colour that is not there is not painted', () => {
    expect(() => paintDisc('mauve')).toThrow('There is no colour mauve in the box.')
  })
})
