import { expect, test } from 'vitest';
import { readRequestBlock } from './pem.ts';

const begin = '-----BEGIN CERTIFICATE REQUEST-----';
const end = '-----END CERTIFICATE REQUEST-----';
const read = (text: string) => readRequestBlock(Buffer.from(text, 'latin1'));

test.for([
  ['LF', `${begin}\nZm9v\n${end}\n`],
  ['CR LF', `${begin}\r\nZm9v\r\n${end}\r\n`],
  ['no end of line at the end', `${begin}\nZm9v\n${end}`],
  ['one digit a line', `${begin}\nZ\nm\n9\nv\n${end}\n`],
  ['every kind of white space around it', ` \t\r\n\f\v${begin}\nZm9v\n${end} \t\r\n\f\v`],
])('one block is read: %s', ([, text]) => {
  const block = read(text ?? '');
  expect(block).toEqual({ kind: 'block', der: new Uint8Array(Buffer.from('foo')) });
});

test.for([
  ['', 'it is empty'],
  [' \n', 'it is empty'],
  ['Zm9v', `it does not begin with ${begin}`],
  [`\xef\xbb\xbf${begin}\nZm9v\n${end}`, `it does not begin with ${begin}`],
  [`\xa0${begin}\nZm9v\n${end}`, `it does not begin with ${begin}`],
  ['-----BEGIN CERTIFICATE-----\nZm9v\n-----END CERTIFICATE-----', 'it does not begin with'],
  [`${begin} \nZm9v\n${end}`, 'the BEGIN line holds more than the label'],
  [`${begin}\rZm9v\r${end}`, 'the BEGIN line holds more than the label'],
  [begin, 'the BEGIN line holds more than the label'],
  [`${begin}\n`, 'a line between BEGIN and END holds no base64'],
  [`${begin}\n\nZm9v\n${end}`, 'a line between BEGIN and END holds no base64'],
  [`${begin}\nZm9v \n${end}`, 'a line between BEGIN and END holds more than base64'],
  [`${begin}\nProc-Type: 4\n\nZm9v\n${end}`, 'a line between BEGIN and END holds more than base64'],
  [`${begin}\nZm9v${end}`, 'a line between BEGIN and END holds more than base64'],
  [`${begin}\nZm9v`, 'a line between BEGIN and END holds more than base64'],
  [`${begin}\nZm9v\n${end}x`, 'something other than white space follows the END line'],
  [`${begin}\nZm9v\n${end}\n${begin}\nZm9v\n${end}`, 'something other than white space follows'],
  [`${begin}\nZm9v=\n${end}`, 'the base64 between BEGIN and END is not canonical'],
  [`${begin}\nZg==\nZg==\n${end}`, 'the base64 between BEGIN and END is not canonical'],
  [`${begin}\n${end}`, 'nothing stands between BEGIN and END'],
])('%j is refused: %s', ([text, problem]) => {
  const block = read(text ?? '');
  expect(block.kind === 'problem' ? block.problem : 'a block').toContain(problem);
});
