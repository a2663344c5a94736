/** The page. What it shows comes from the ledger by one stream; words of others are text nodes, and nothing else. */
import './style.css';
import { render } from 'preact';
import { App } from './app.tsx';

const place = document.getElementById('app');
if (place) render(<App />, place);
