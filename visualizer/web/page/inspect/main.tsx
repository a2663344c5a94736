/** The page of the programs that send. What it shows comes by one stream; words of programs are text nodes, and nothing else. */
import '../style.css';
import './inspect.css';
import { render } from 'preact';
import { Inspect } from './inspect.tsx';

const place = document.getElementById('app');
if (place) render(<Inspect />, place);
