import { describe, expect, it } from 'vitest';
import { eventually, notYet } from './eventually.ts';

describe('eventually', () => {
  it('returns the first answer that is one, whatever came before', async () => {
    const answers = [undefined, false, notYet('nothing'), { seen: 'a value of its own' }] as const;
    let asked = 0;
    const answer = await eventually('it is there', () => answers[asked++], { everyMs: 1 });

    expect(answer).toEqual({ seen: 'a value of its own' });
    expect(asked).toBe(4);
  });

  it('asks again after a probe that throws', async () => {
    let asked = 0;
    const answer = await eventually(
      'it is there',
      () => {
        asked += 1;
        if (asked === 1) throw new Error('refused');
        return 'there';
      },
      { everyMs: 1 },
    );

    expect(answer).toBe('there');
  });

  it('says what it waited for and what it saw last', async () => {
    await expect(
      eventually('it is there', () => notYet('something else'), { timeoutMs: 5, everyMs: 1 }),
    ).rejects.toThrow('it did not happen that it is there. Seen last: "something else"');
  });
});
