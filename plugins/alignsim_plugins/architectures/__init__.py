"""Model shapes: how many parameters a described transformer has, and a catalogue of published ones."""
